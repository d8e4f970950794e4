"""Names of the members of STRUCTs in Arrow types: as they are declared, whatever their case."""

from __future__ import annotations

import pyarrow as pa

from penstock.query.families.spelling import spelled
from penstock.query.types import DataType


def with_declared_names(found: pa.DataType, type_: DataType) -> pa.DataType:
    """The type of a column that was found, with the members that are declared named as there.

    Values are the same in both types: `column.view(…)` costs nothing, however many there are.
    """
    kinds, inner = pa.types, dict(type_.parts)
    match type_.kind:
        case "STRUCT" if kinds.is_struct(found):
            return _struct(found, inner)
        case "ARRAY" if kinds.is_list(found) or kinds.is_large_list(found):
            values = found.value_field.with_type(
                with_declared_names(found.value_type, inner["element"])
            )
            return pa.list_(values) if kinds.is_list(found) else pa.large_list(values)
        case "ARRAY" if kinds.is_fixed_size_list(found):
            values = with_declared_names(found.value_type, inner["element"])
            return pa.list_(found.value_field.with_type(values), found.list_size)
        case "MAP" if kinds.is_map(found):
            keys = with_declared_names(found.key_type, inner["key"])
            values = with_declared_names(found.item_type, inner["value"])
            return pa.map_(found.key_field.with_type(keys), found.item_field.with_type(values))
    return found


def _struct(found: pa.StructType, inner: dict[str, DataType]) -> pa.DataType:
    names = [each.name for each in found]
    declared = {spelled(name, names): name for name in inner}
    fields = []
    for each in found:
        name = declared.get(each.name)
        if name is not None:
            each = each.with_name(name).with_type(with_declared_names(each.type, inner[name]))
        fields.append(each)
    return pa.struct(fields)
