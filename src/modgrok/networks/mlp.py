"""A multilayer perceptron on concatenated one-hot numbers, on signs or on real vectors."""

from dataclasses import dataclass
from typing import Any, ClassVar

from modgrok.networks.activation import activation, activation_setting
from modgrok.networks.architecture import Architecture, Cost, Noise, Parameters, register
from modgrok.networks.layers import Perceptron, first_layer, input_width
from modgrok.setting import setting
from modgrok.tasks import Signature


@register
@dataclass(frozen=True)
class MLP(Architecture):
    """`depth` hidden layers of `width` neurons; weights and biases start as PyTorch's do."""

    name: ClassVar[str] = "mlp"
    summary: ClassVar[str] = "hidden layers with or without biases, on one-hot numbers, signs or real vectors"
    divisible: ClassVar[bool] = True

    width: int = setting(256, "N, the number of hidden neurons", "[1, 1000000000000]")
    depth: int = setting(1, "Number of hidden layers", "[1, 1000]")
    activation: str = activation_setting("relu")
    biases: bool = setting(True, "Whether layers have biases; a transformer has them only in its MLPs")

    def __post_init__(self) -> None:
        activation(self.activation)

    def _layers(self, signature: Signature) -> Perceptron:
        widths = (input_width(signature), *[self.width] * self.depth, signature.outputs)
        return Perceptron("layers", widths, self.activation, self.biases)

    def init(self, key: Any, signature: Signature, scale: Any, dtype: Any) -> Parameters:
        return self._layers(signature).init(key, scale, dtype)

    def apply(self, parameters: Parameters, inputs: Any, signature: Signature, noise: Noise | None = None) -> Any:
        first = first_layer(parameters, "layers.0", inputs, signature)
        return self._layers(signature).apply(parameters, first, noise)

    def last_layer(self, parameters: Parameters) -> Any:
        return parameters[f"layers.{self.depth}.weight"]

    def input_weights(self, parameters: Parameters, signature: Signature) -> Any:
        alike = len(set(signature.sizes)) == 1 and not signature.signs
        return parameters["layers.0.weight"].reshape(self.width, len(signature.sizes), -1) if alike else None

    def cost(self, signature: Signature) -> Cost:
        return self._layers(signature).cost
