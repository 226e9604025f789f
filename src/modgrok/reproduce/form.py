"""What a paper is written in, for one import: sizes, runs, studies with their tables, claims."""

from modgrok.reproduce.claim import BEYOND, Ask, Claim
from modgrok.reproduce.runs import Runs, Settings, joined, runs
from modgrok.reproduce.sizes import Sizes, sizes
from modgrok.reproduce.study import Study, curves, make_claim, study
from modgrok.reproduce.table import Column, Line, Row, Table, rounded
