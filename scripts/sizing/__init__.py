"""What a machine carries, played through in virtual time; see scripts/size_service."""
