"""The command line: each command calls one library function and shows what came back."""
