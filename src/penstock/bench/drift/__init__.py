"""Streams that drift: is it noticed, is the plan changed in time, and is little work lost?"""
