"""How people reach the agent. Printing and exit codes live only here."""
