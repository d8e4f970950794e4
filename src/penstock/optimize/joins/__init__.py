"""The search for trees and probe orders."""
