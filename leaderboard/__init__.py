"""What is derived from match records: index, ratings, standings."""
