"""The cases of the drift benchmark: runs, what they are compared with, and what is measured."""
