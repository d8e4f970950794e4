"""Routes: the visits of each new tuple in multi-way joins, trees and meshes, and its filters."""
