"""The progress of any operation: bulk operations, and operations on services and configuration."""
