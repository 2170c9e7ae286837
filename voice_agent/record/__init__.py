"""What happened: the journal, how it is masked, and how it is read back."""
