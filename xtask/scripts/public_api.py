"""Prints the public API of a crate, one line for each item, from the JSON that rustdoc writes.

Usage: public_api.py CRATE.json

    mod superchunk::chunk
    fn superchunk::chunk::compress(src: &[u8], options: &CompressOptions) -> Result<Vec<u8>>
    struct superchunk::chunk::Encoder: Debug
    fn superchunk::chunk::Encoder::compress(&mut self, src: &[u8]) -> Result<Vec<u8>>

Only what rustdoc's JSON of one version says is read: `FORMATS` are the versions that were tried.
"""

import json
import sys

FORMATS = range(45, 58)
# Traits that the compiler implements by itself, and those that follow from others.
UNREMARKABLE = {"StructuralPartialEq"}


class Types:
    """Types, bounds and generics as Rust writes them."""

    def of(self, type_):
        if type_ == "infer":
            return "_"
        (kind, value), = type_.items()
        return getattr(self, kind)(value)

    def primitive(self, name):
        return "!" if name == "never" else name

    def generic(self, name):
        return name

    def resolved_path(self, path):
        return path["path"].rsplit("::", 1)[-1] + self.arguments(path["args"])

    def arguments(self, args):
        if not args:
            return ""
        if "parenthesized" in args:
            called = args["parenthesized"]
            inputs = ", ".join(self.of(type_) for type_ in called["inputs"])
            return f"({inputs})" + self.returned(called["output"])
        inside = [self.argument(arg) for arg in args["angle_bracketed"]["args"]]
        for constraint in args["angle_bracketed"]["constraints"]:
            inside.append(f"{constraint['name']}{self.arguments(constraint['args'])}"
                          + self.constraint(constraint["binding"]))
        return f"<{', '.join(inside)}>" if inside else ""

    def argument(self, arg):
        (kind, value), = arg.items()
        if kind == "lifetime":
            return value
        return self.of(value) if kind == "type" else value["expr"]

    def constraint(self, binding):
        if "equality" in binding:
            return " = " + self.of(binding["equality"]["type"])
        return ": " + self.bounds(binding["constraint"])

    def borrowed_ref(self, ref):
        lifetime = ref["lifetime"] + " " if ref["lifetime"] else ""
        return f"&{lifetime}{'mut ' if ref['is_mutable'] else ''}{self.of(ref['type'])}"

    def raw_pointer(self, pointer):
        return f"*{'mut' if pointer['is_mutable'] else 'const'} {self.of(pointer['type'])}"

    def slice(self, item):
        return f"[{self.of(item)}]"

    def array(self, array):
        return f"[{self.of(array['type'])}; {array['len']}]"

    def tuple(self, items):
        inside = ", ".join(self.of(item) for item in items)
        return f"({inside},)" if len(items) == 1 else f"({inside})"

    def impl_trait(self, bounds):
        return "impl " + self.bounds(bounds)

    def dyn_trait(self, dyn):
        traits = " + ".join(self.resolved_path(poly["trait"]) for poly in dyn["traits"])
        return f"dyn {traits}" + (f" + {dyn['lifetime']}" if dyn["lifetime"] else "")

    def qualified_path(self, path):
        return f"{self.of(path['self_type'])}::{path['name']}"

    def function_pointer(self, pointer):
        sig = pointer["sig"]
        inputs = ", ".join(self.of(type_) for _, type_ in sig["inputs"])
        return f"fn({inputs})" + self.returned(sig["output"])

    def returned(self, output):
        return f" -> {self.of(output)}" if output else ""

    def bounds(self, bounds):
        return " + ".join(self.bound(bound) for bound in bounds)

    def bound(self, bound):
        (kind, value), = bound.items()
        if kind != "trait_bound":
            return value if isinstance(value, str) else "use<..>"
        maybe = "?" if value["modifier"] == "maybe" else ""
        return maybe + self.resolved_path(value["trait"])

    def generics(self, generics):
        """Returns what stands behind the name, and the `where` behind it all."""
        params = [self.param(param) for param in generics["params"]
                  if not self.is_synthetic(param)]
        predicates = [self.predicate(each) for each in generics["where_predicates"]]
        return (f"<{', '.join(params)}>" if params else "",
                f" where {', '.join(predicates)}" if predicates else "")

    def is_synthetic(self, param):
        return param["kind"].get("type", {}).get("is_synthetic", False)

    def param(self, param):
        kind = param["kind"]
        if "const" in kind:
            return f"const {param['name']}: {self.of(kind['const']['type'])}"
        bounds = kind.get("type", {}).get("bounds", [])
        return param["name"] + (": " + self.bounds(bounds) if bounds else "")

    def predicate(self, predicate):
        (kind, value), = predicate.items()
        if kind == "bound_predicate":
            return f"{self.of(value['type'])}: {self.bounds(value['bounds'])}"
        return f"{value['lifetime']}: {' + '.join(value['outlives'])}"


TYPES = Types()


class Api:
    """Collects the lines of a crate."""

    def __init__(self, crate):
        self.index = crate["index"]
        self.paths = crate["paths"]
        self.lines = set()
        root = self.item(crate["root"])
        self.module(root["name"], root)

    def item(self, number):
        return self.index.get(str(number))

    def say(self, kind, path, rest=""):
        self.lines.add(f"{path}\t{kind} {path}{rest}")

    def module(self, path, module):
        self.say("mod", path)
        for number in module["inner"]["module"]["items"]:
            self.any(path, self.item(number))

    def any(self, path, item, name=None):
        if not item or item["visibility"] != "public":
            return
        (kind, inner), = item["inner"].items()
        if kind == "use":
            return self.use(path, inner)
        visit = getattr(self, kind, None)
        if visit is None:
            raise SystemExit(f"public_api.py does not know items of kind `{kind}`")
        where = f"{path}::{name or item['name']}"
        visit(where, item) if kind == "module" else visit(where, inner, item)

    def use(self, path, use):
        target = self.item(use["id"])
        if target is None:
            source = "::".join(self.paths[str(use["id"])]["path"])
            return self.say("use", f"{path}::{use['name']}", f" = {source}")
        if not use["is_glob"]:
            return self.any(path, target, use["name"])
        for number in target["inner"]["module"]["items"]:
            self.any(path, self.item(number))

    def function(self, path, function, item):
        sig = function["sig"]
        inputs = ", ".join(self.parameter(name, type_) for name, type_ in sig["inputs"])
        params, where = TYPES.generics(function["generics"])
        const = "const " if function["header"]["is_const"] else ""
        self.say(f"{const}fn", path, f"{params}({inputs}){TYPES.returned(sig['output'])}{where}")

    def parameter(self, name, type_):
        if name != "self":
            return f"{name}: {TYPES.of(type_)}"
        text = TYPES.of(type_)
        return text.replace("Self", "self") if text in ("Self", "&Self", "&mut Self") \
            else f"self: {text}"

    def struct(self, path, struct, item):
        self.type(path, "struct", struct, item)
        kind = struct["kind"]
        fields = kind["plain"]["fields"] if isinstance(kind, dict) and "plain" in kind \
            else kind.get("tuple", []) if isinstance(kind, dict) else []
        self.fields(path, fields, True)

    def fields(self, path, fields, checks_visibility):
        for field in filter(None, map(self.item, filter(None, fields))):
            if field["visibility"] == "public" or not checks_visibility:
                self.say("field", f"{path}.{field['name']}",
                         ": " + TYPES.of(field["inner"]["struct_field"]))

    def enum(self, path, enum, item):
        self.type(path, "enum", enum, item)
        for variant in map(self.item, enum["variants"]):
            name, kind = f"{path}::{variant['name']}", variant["inner"]["variant"]["kind"]
            held = ""
            if isinstance(kind, dict) and "tuple" in kind:
                types = [self.item(n)["inner"]["struct_field"] for n in kind["tuple"] if n]
                held = f"({', '.join(TYPES.of(type_) for type_ in types)})"
            self.say("variant", name, held)
            if isinstance(kind, dict) and "struct" in kind:
                self.fields(name, kind["struct"]["fields"], False)

    def type(self, path, word, type_, item):
        traits = []
        for implementation in (self.item(n)["inner"]["impl"] for n in type_["impls"]):
            if implementation["is_synthetic"] or implementation["blanket_impl"]:
                continue
            if implementation["trait"] is None:
                for number in implementation["items"]:
                    self.any(path, self.item(number))
            elif implementation["trait"]["path"] not in UNREMARKABLE:
                traits.append(TYPES.resolved_path(implementation["trait"]))
        open_ = "#[non_exhaustive] " if "non_exhaustive" in item["attrs"] else ""
        params, where = TYPES.generics(type_["generics"])
        listed = ": " + ", ".join(sorted(set(traits))) if traits else ""
        self.say(open_ + word, path, params + where + listed)

    def trait(self, path, trait, item):
        params, where = TYPES.generics(trait["generics"])
        bounds = ": " + TYPES.bounds(trait["bounds"]) if trait["bounds"] else ""
        self.say("trait", path, params + bounds + where)
        for number in trait["items"]:
            inner = dict(self.item(number), visibility="public")
            self.any(path, inner)

    def assoc_const(self, path, constant, item):
        self.say("const", path, ": " + TYPES.of(constant["type"]))

    def assoc_type(self, path, type_, item):
        self.say("type", path)

    def constant(self, path, constant, item):
        self.say("const", path, ": " + TYPES.of(constant["type"]))

    def type_alias(self, path, alias, item):
        params, where = TYPES.generics(alias["generics"])
        self.say("type", path, f"{params} = {TYPES.of(alias['type'])}{where}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        crate = json.load(file)
    if crate["format_version"] not in FORMATS:
        sys.exit(f"rustdoc writes format {crate['format_version']}, tried were {FORMATS}")
    for line in sorted(Api(crate).lines):
        print(line.split("\t", 1)[1])


main()
