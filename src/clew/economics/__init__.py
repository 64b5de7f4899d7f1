"""The prefix cache as a model: what a request, a rewrite and an epoch cost, and why. Pure functions, frozen values."""

from __future__ import annotations

from clew.economics.bill import Bill, Reason, Weights, Why, bill, weights
from clew.economics.cache import CacheState, Hit, price, problems, readable, usable_marks
from clew.economics.request import Block, Request, Ttl
from clew.economics.rewrite import Rewrite, SkiRental, accrue, due, epoch_cost, rewrite_price

__all__ = [
    "Bill",
    "Block",
    "CacheState",
    "Hit",
    "Reason",
    "Request",
    "Rewrite",
    "SkiRental",
    "Ttl",
    "Weights",
    "Why",
    "accrue",
    "bill",
    "due",
    "epoch_cost",
    "price",
    "problems",
    "readable",
    "rewrite_price",
    "usable_marks",
    "weights",
]
