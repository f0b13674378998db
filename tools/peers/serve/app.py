"""LightGBM behind FastAPI: the probability of an application, and a decision drawn by it."""
import ctypes
import gc
import math
import os
import pathlib
import random
import tomllib

import lightgbm
import numpy
import orjson
from fastapi import FastAPI, Response

NAN = math.nan


def features_of(schema):
    """Returns the features in the model's order, those of categories with the code of each."""
    with open(schema, "rb") as file:
        listed = tomllib.load(file)["feature"]
    return [(one["name"], {name: code for code, name in enumerate(one["categories"])}
             if one["kind"] == "categorical" else None) for one in listed]


class FastModel:
    """One row a call through the C interface of LightGBM, which keeps what the call needs: the
    fastest that the library has. One thread at a time."""

    def __init__(self, file, width):
        self.library = ctypes.CDLL(pathlib.Path(lightgbm.__file__).parent / "lib/lib_lightgbm.so")
        booster, trees, self.fast = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p()
        self.check(self.library.LGBM_BoosterCreateFromModelfile(
            os.fsencode(file), ctypes.byref(trees), ctypes.byref(booster)))
        self.check(self.library.LGBM_BoosterPredictForMatSingleRowFastInit(
            booster, 0, 0, -1, 1, ctypes.c_int32(width), b"num_threads=1",
            ctypes.byref(self.fast)))
        self.row = numpy.zeros(width)
        self.length, self.out = ctypes.c_int64(), numpy.zeros(1)
        self.call = self.library.LGBM_BoosterPredictForMatSingleRowFast
        self.arguments = (self.fast, ctypes.c_void_p(self.row.ctypes.data),
                          ctypes.byref(self.length), ctypes.c_void_p(self.out.ctypes.data))

    @staticmethod
    def check(code):
        if code != 0:
            raise RuntimeError("LightGBM refused the model")

    def __call__(self, values):
        self.row[:] = values
        self.check(self.call(*self.arguments))
        return float(self.out[0])


class PlainModel:
    """The same through Booster.predict, as most programs call it."""

    def __init__(self, file, width):
        self.booster, self.row = lightgbm.Booster(model_file=file), numpy.zeros((1, width))

    def __call__(self, values):
        self.row[0] = values
        return float(self.booster.predict(self.row, num_threads=1)[0])


FEATURES = features_of(os.environ["PEER_SERVE_SCHEMA"])
MODEL = {"fast": FastModel, "plain": PlainModel}[os.environ.get("PEER_SERVE_CALL", "fast")](
    os.environ["PEER_SERVE_MODEL"], len(FEATURES))
app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None,
              telemetry={"tracing": False, "metrics": False, "logs": False,
                         "operation_spans": False})


async def decide(request):
    body = orjson.loads(await request.body())
    given, values = body["features"], []
    for name, codes in FEATURES:
        value = given[name]
        if codes is not None:
            value = codes.get(value, NAN)
        values.append(NAN if value is None else value)
    probability, draw = MODEL(values), random.random()
    return Response(orjson.dumps({
        "application_id": body["application_id"], "score": probability, "draw": draw,
        "action": "approve" if draw < probability else "decline"}), media_type="application/json")


# a plain route: no injection of dependencies, no model of the body
app.add_route("/v1/decisions", decide, methods=["POST"])
gc.collect()
gc.freeze()
