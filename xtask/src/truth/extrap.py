# Reads a series a line, as pairs of a point and a figure, and writes the order that Extra-P finds, as the JSON of knee has it:
# that of its leading term, or the one whose exponent along these points is nearest.
import json, math, sys
from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.measurement import Measurement
from extrap.entities.metric import Metric
from extrap.modelers.single_parameter.basic import SingleParameterModeler

ORDERS = {"logarithmic": (0, 1), "square-root": (0.5, 0), "linear": (1, 0), "linearithmic": (1, 1), "quadratic": (2, 0)}
modeler = SingleParameterModeler()
for line in open(sys.argv[1]):
    points = json.loads(line)
    first, last = points[0][0], points[-1][0]
    def exponent(power, logs):
        return power + logs * math.log(math.log(last) / math.log(first)) / math.log(last / first)
    measured = [Measurement(Coordinate(n), Callpath.EMPTY, Metric("time"), figure) for n, figure in points]
    terms = []
    for term in modeler.create_model(measured).hypothesis.function.compound_terms:
        parts = {part.term_type: float(part.exponent) for part in term.simple_terms}
        terms.append((parts.get("polynomial", 0), parts.get("logarithm", 0), term.coefficient))
    name = "constant"
    if terms:
        power, logs, coefficient = max(terms)
        name = min(ORDERS, key=lambda order: abs(exponent(*ORDERS[order]) - exponent(power, logs)))
        name = name if coefficient > 0 else "falls"
    print(json.dumps({"class": name, "classes": [name]}))
