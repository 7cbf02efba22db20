"""Checks the indices of a compiled model that comes from a file.

MuJoCo follows the indices of a model without looking at them, so a wrong one ends the process, partly
already while it loads the model. Its loader checks a part of them against the sizes of the arrays that
they lead to; the rest is checked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction._core import find_model_arrays

Ints = NDArray[np.int64]

# Lengths and begins of blocks that follow each other and fill an array, its size, and the arrays
# that have the block of each entry.
_BLOCKS = """
body_jntnum body_jntadr njnt jnt_bodyid
body_dofnum body_dofadr nv dof_bodyid
body_geomnum body_geomadr ngeom geom_bodyid
tree_dofnum tree_dofadr nv dof_treeid
mesh_vertnum mesh_vertadr nmeshvert
mesh_facenum mesh_faceadr nmeshface
mesh_normalnum mesh_normaladr nmeshnormal
mesh_texcoordnum mesh_texcoordadr nmeshtexcoord
mesh_octnum mesh_octadr noct
mesh_polynum mesh_polyadr nmeshpoly
mesh_polyvertnum mesh_polyvertadr nmeshpolyvert
mesh_polymapnum mesh_polymapadr nmeshpolymap
skin_vertnum skin_vertadr nskinvert
skin_facenum skin_faceadr nskinface
skin_bonenum skin_boneadr nskinbone
skin_bonevertnum skin_bonevertadr nskinbonevert
flex_vertnum flex_vertadr nflexvert
flex_nodenum flex_nodeadr nflexnode
flex_edgenum flex_edgeadr nflexedge
flex_elemnum flex_elemadr nflexelem
tendon_num tendon_adr nwrap
ten_J_rownnz ten_J_rowadr nJten
actuator_ctrlnum actuator_ctrladr nu
actuator_outnum actuator_outadr nout
actuator_actnum actuator_actadr na
sensor_dim sensor_adr nsensordata
plugin_statenum plugin_stateadr npluginstate
numeric_size numeric_adr nnumericdata
text_size text_adr ntextdata
tuple_size tuple_adr ntupledata
B_rownnz B_rowadr nB
M_rownnz M_rowadr nC
D_rownnz D_rowadr nD
"""

# Kinds of objects that have names, as arrays name them and in the order of their parts of names_map.
_NAMED = (
    "body jnt geom site cam light flex mesh skin hfield tex mat pair exclude eq tendon actuator sensor "
    "numeric text tuple key plugin"
)

# Arrays of indices by the size that they are below. Those of the second list may also be -1, for none.
_INDICES = {
    "nbody": (
        "body_parentid body_rootid body_weldid site_bodyid cam_bodyid light_bodyid flex_nodebodyid "
        "skin_bonebodyid",
        "cam_targetbodyid light_targetbodyid flex_vertbodyid",
    ),
    "nv": ("M_colind B_colind D_colind ten_J_colind flexedge_J_colind", "dof_parentid efmC_perm"),
    "nM": ("dof_Madr mapM2M", ""),
    "nC": ("", "mapM2D"),
    "nD": ("mapD2M", ""),
    "ntree": ("", "body_treeid tendon_treeid"),
    "nmocap": ("", "body_mocapid"),
    "ngeom": ("pair_geom1 pair_geom2", ""),
    "nplugin": ("", "body_plugin geom_plugin actuator_plugin sensor_plugin"),
    "nplastic": ("", "jnt_plasticadr tendon_plasticadr flex_plasticadr"),
    "nactuator": ("", "jnt_actuatorid tendon_actuatorid"),
    "nnames": (" ".join(f"name_{kind}adr" for kind in _NAMED.split()), ""),
    "npaths": (
        "",
        "mesh_pathadr skin_pathadr hfield_pathadr tex_pathadr tex_contenttypeadr",
    ),
    "nflexstiffness": ("", "flex_stiffnessadr"),
    "nflexbending": ("", "flex_bendingadr"),
    "nflextexcoord": ("", "flex_texcoordadr"),
    "nskintexvert": ("", "skin_texcoordadr"),
    "nmat": ("", "geom_matid site_matid flex_matid skin_matid tendon_matid"),
    "ntex": ("", "mat_texid light_texid"),
}

# Arrays with values of an enumeration.
_KINDS = {
    "jnt_type": mujoco.mjtJoint,
    "tree_sleep_policy": mujoco.mjtSleepPolicy,
    "cam_mode": mujoco.mjtCamLight,
    "light_mode": mujoco.mjtCamLight,
    "eq_type": mujoco.mjtEq,
    "wrap_type": mujoco.mjtWrap,
    "actuator_trntype": mujoco.mjtTrn,
    "actuator_dyntype": mujoco.mjtDyn,
    "actuator_gaintype": mujoco.mjtGain,
    "actuator_biastype": mujoco.mjtBias,
    "sensor_type": mujoco.mjtSensor,
    "sensor_datatype": mujoco.mjtDataType,
    "sensor_needstage": mujoco.mjtStage,
}
_WIDTHS_Q, _WIDTHS_V = np.array([7, 4, 1, 1]), np.array([6, 3, 1, 1])  # of the values of mjtJoint
_NUM_GEOM_TYPES = 9  # those that collide come first in mjtGeom
_CONDIMS = (1, 3, 4, 6)

Fault = tuple[str, int, Any, str]  # an array, the place in it, its value, and what it must be


def check_indices(content: bytes) -> None:
    """Raises ValueError if an index of a model in MuJoCo's binary format leads nowhere.

    The message names array, place and value. MuJoCo must not have loaded the model before.
    """
    arrays = _Arrays(content)
    for find in _FINDERS:
        for name, place, value, wanted in find(arrays):
            raise ValueError(f"{name}[{place}] is {value}, must be {wanted}")


class _Arrays:
    """The arrays and sizes of a model by their names, as integers of 64 bits, which do not overflow."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._places = find_model_arrays(content)
        if not self._places:
            raise ValueError("it is not as long as its sizes say, or of another version of MuJoCo")

    def __call__(self, name: str) -> Ints:
        offset, number = self._places[name]
        return np.frombuffer(self._content, "<i4", number, offset).astype(np.int64)

    def size(self, name: str) -> int:
        return int(self._places[name])


def _list_faults(
    name: str, values: Ints, is_right: NDArray[np.bool_], wanted: str
) -> Iterator[Fault]:
    for place in np.flatnonzero(~is_right)[:1]:
        yield name, int(place), int(values[place]), wanted


def _find_bad_blocks(arrays: _Arrays) -> Iterator[Fault]:
    for line in _BLOCKS.strip().splitlines():
        length, begin, size, *owners = line.split()
        lengths = arrays(length)
        yield from _find_bad_begins(length, lengths, begin, arrays(begin), arrays.size(size))
        for owner in owners:
            yield from _find_bad_owners(owner, arrays(owner), lengths)
    types = np.clip(arrays("jnt_type"), 0, 3)
    for widths, begin, size in ((_WIDTHS_Q, "jnt_qposadr", "nq"), (_WIDTHS_V, "jnt_dofadr", "nv")):
        lengths = widths[types]
        yield from _find_bad_begins("jnt_type", lengths, begin, arrays(begin), arrays.size(size))
    yield from _find_bad_owners("dof_jntid", arrays("dof_jntid"), lengths)


def _find_bad_begins(
    name: str, lengths: Ints, begin: str, begins: Ints, size: int, none: int | None = None
) -> Iterator[Fault]:
    """Finds blocks that do not follow each other, or do not fill an array of a size.

    The begin of an empty block is `none`, or anything.
    """
    yield from _list_faults(name, lengths, lengths >= 0, "at least 0")
    if lengths.sum() != size:
        last = len(lengths) - 1
        yield name, last, lengths[last] if len(lengths) else 0, f"such that the sum is {size}"
    is_empty = (lengths == 0) & ((begins == none) | (none is None))
    follows = (lengths > 0) & (begins == np.cumsum(lengths) - lengths)
    yield from _list_faults(begin, begins, follows | is_empty, "the end of the block before")


def _find_bad_owners(name: str, owners: Ints, lengths: Ints) -> Iterator[Fault]:
    wanted = np.repeat(np.arange(len(lengths)), lengths)
    for place in np.flatnonzero(owners != wanted)[:1]:
        yield name, int(place), owners[place], f"{wanted[place]}"


def _find_bad_indices(arrays: _Arrays) -> Iterator[Fault]:
    for size, lists in _INDICES.items():
        for low, names in zip((0, -1), lists, strict=True):
            for name in names.split():
                yield from _find_outside(name, arrays(name), low, arrays.size(size))


def _find_outside(name: str, values: Ints, low: int, size: int | Ints) -> Iterator[Fault]:
    """Finds an index below `low`, or not below a size, which may differ for each index."""
    is_right = (values >= low) & (values < size)
    highest = np.broadcast_to(size, values.shape)[~is_right][:1] - 1
    yield from _list_faults(name, values, is_right, f"in {low}..{highest.sum()}")


def _find_bad_kinds(arrays: _Arrays) -> Iterator[Fault]:
    for name, kind in _KINDS.items():
        allowed = [int(value) for value in kind.__members__.values()]
        values = arrays(name)
        yield from _list_faults(
            name, values, np.isin(values, allowed), f"a value of {kind.__name__}"
        )
    for name in ("geom_type", "site_type"):
        yield from _find_outside(name, arrays(name), 0, _NUM_GEOM_TYPES)
    for name in ("geom_condim", "pair_dim", "flex_condim"):
        values = arrays(name)
        yield from _list_faults(name, values, np.isin(values, _CONDIMS), "1, 3, 4 or 6")
    # Actuators with three forces act on ball joints.
    is_ball = arrays("actuator_trntype") == mujoco.mjtTrn.mjTRN_SO3
    counts, joints = arrays("actuator_outnum"), arrays("actuator_trnid")[::2]
    balls = np.flatnonzero(arrays("jnt_type") == mujoco.mjtJoint.mjJNT_BALL)
    yield from _list_faults(
        "actuator_outnum", counts, (counts == 3) == is_ball, "3 for a ball joint"
    )
    yield from _list_faults(
        "actuator_trnid", joints, ~is_ball | np.isin(joints, balls), "a ball joint"
    )
    # The data of a geom are those of a mesh, except for a height field.
    types, data = arrays("geom_type"), arrays("geom_dataid")
    is_field = types == mujoco.mjtGeom.mjGEOM_HFIELD
    is_mesh = np.isin(types, (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF))
    sizes = np.where(is_field, arrays.size("nhfield"), arrays.size("nmesh"))
    is_right = (data >= 0) & (data < sizes) | ~(is_mesh | is_field)
    yield from _list_faults("geom_dataid", data, is_right, "an existing mesh or height field")


def _find_bad_trees(arrays: _Arrays) -> Iterator[Fault]:
    """Finds parents after their children, and rows of the inertia that are no chain of parents."""
    for name in ("body_parentid", "body_rootid", "body_weldid"):
        parents = arrays(name)
        places = np.arange(len(parents))
        is_before = (parents < places) if name == "body_parentid" else (parents <= places)
        is_before[:1] = parents[:1] == 0
        yield from _list_faults(name, parents, is_before, "an earlier body")
    parents = arrays("dof_parentid")
    yield from _list_faults(
        "dof_parentid", parents, parents < np.arange(len(parents)), "an earlier dof"
    )
    lengths, columns = arrays("M_rownnz"), arrays("M_colind")
    yield from _list_faults("M_rownnz", lengths, lengths >= 1, "at least 1")
    if (lengths < 1).any():
        return
    ends = np.cumsum(lengths) - 1
    wanted = np.append(parents[columns[1:]], 0)
    wanted[ends] = np.arange(len(ends))
    yield from _list_faults("M_colind", columns, columns == wanted, "the dofs before its own")
    firsts = (ends - lengths + 1)[lengths > 1]
    yield from _list_faults("M_colind", columns[firsts], parents[columns[firsts]] < 0, "a root")


def _find_bad_places(arrays: _Arrays) -> Iterator[Fault]:
    """Finds parts of arrays that begin or end outside, and names of objects that do not exist."""
    lengths, begins = arrays("tree_bodynum"), arrays("tree_bodyadr")
    yield from _find_outside("tree_bodynum", lengths, 0, arrays.size("nbody") - begins + 1)
    yield from _list_faults("tree_bodyadr", begins, begins >= 0, "at least 0")
    yield from _find_outside("D_diag", arrays("D_diag"), 0, arrays("D_rownnz"))
    runs = arrays("dof_simplenum")
    yield from _find_outside("dof_simplenum", runs, 0, len(runs) - np.arange(len(runs)) + 1)
    counts = np.array([len(arrays(f"name_{kind}adr")) for kind in _NAMED.split()])
    names = arrays("names_map")
    if 2 * counts.sum() != len(names):
        yield "names_map", 0, len(names), f"an array of {2 * counts.sum()} entries"
    yield from _find_outside("names_map", names, -1, np.repeat(counts, 2 * counts))


def _find_bad_meshes(arrays: _Arrays) -> Iterator[Fault]:
    """Finds indices of vertices, normals and polygons that are not those of their own mesh."""
    num_vertices, num_polygons = arrays("mesh_vertnum"), arrays("mesh_polynum")
    meshes = np.arange(len(num_vertices))
    of_face = np.repeat(np.repeat(meshes, arrays("mesh_facenum")), 3)
    of_polygon = np.repeat(meshes, num_polygons)
    of_corner = np.repeat(of_polygon, arrays("mesh_polyvertnum"))
    of_map = np.repeat(np.repeat(meshes, num_vertices), arrays("mesh_polymapnum"))
    for name, sizes in (
        ("mesh_face", num_vertices[of_face]),
        ("mesh_facenormal", arrays("mesh_normalnum")[of_face]),
        ("mesh_polyvert", num_vertices[of_corner]),
        ("mesh_polymap", num_polygons[of_map]),
        ("mesh_extrema", np.repeat(num_vertices, 27)),
    ):
        yield from _find_outside(name, arrays(name), 0, sizes)
    # MuJoCo reserves memory for the largest polygon and for the largest number of them at a vertex.
    for name, largest in (("mesh_polyvertnum", "npolygonmax"), ("mesh_polymapnum", "nmeshdegmax")):
        yield from _find_outside(name, arrays(name), 0, arrays.size(largest) + 1)
    graph = arrays("mesh_graph")
    for mesh in meshes:
        yield from _find_bad_graph(graph, int(arrays("mesh_graphadr")[mesh]), num_vertices[mesh])
    for name in ("hfield_nrow", "hfield_ncol"):
        yield from _list_faults(name, arrays(name), arrays(name) >= 2, "at least 2")
    for name in ("tex_height", "tex_width", "tex_nchannel"):
        yield from _find_outside(name, arrays(name), 0, arrays.size("ntexdata") + 1)


def _find_bad_graph(graph: Ints, begin: int, num_vertices: int) -> Iterator[Fault]:
    """Finds faults in the graph of a convex hull, whose parts mjmodel.h describes at mesh_graph."""
    if begin == -1:
        return
    yield from _find_outside("mesh_graphadr", np.array([begin]), 0, len(graph) - 1)
    if not 0 <= begin < len(graph) - 1:
        return
    num, num_faces = graph[begin], graph[begin + 1]
    lengths = np.array([num, num, num + 3 * num_faces, 3 * num_faces])
    parts = np.split(graph[begin + 2 :], np.cumsum(lengths))
    if num < 1 or num_faces < 1 or [len(part) for part in parts[:4]] != lengths.tolist():
        yield (
            "mesh_graph",
            begin,
            num,
            f"such that {len(graph)} numbers hold all vertices and faces",
        )
        return
    begins, vertices, edges, faces = parts[:4]
    for values, low, size in (
        (begins, 0, len(edges)),
        (vertices, 0, num_vertices),
        (edges, -1, num),
        (faces, 0, num_vertices),
    ):
        yield from _find_outside("mesh_graph", values, low, size)
    yield from _list_faults(
        "mesh_graph", edges[-1:], edges[-1:] == -1, "-1 at the end of the edges"
    )


def _find_bad_boxes(arrays: _Arrays) -> Iterator[Fault]:
    """Finds faults in the trees of bounding boxes: children before their parents, and foreign leaves."""
    lengths = np.concatenate([arrays(f"{kind}_bvhnum") for kind in ("body", "mesh", "flex")])
    begins = np.concatenate([arrays(f"{kind}_bvhadr") for kind in ("body", "mesh", "flex")])
    yield from _find_bad_begins("bvhnum", lengths, "bvhadr", begins, arrays.size("nbvh"))
    leaves = arrays("bvh_nodeid")
    geoms = np.full(arrays.size("nbody"), arrays.size("ngeom"))
    sizes = np.concatenate([geoms, arrays("mesh_facenum"), arrays("flex_elemnum")])
    yield from _find_outside("bvh_nodeid", leaves, -1, np.repeat(sizes, lengths))
    yield from _find_bad_children("bvh_child", arrays("bvh_child"), lengths, leaves >= 0)
    is_leaf = arrays("oct_child").reshape(-1, 8).max(axis=1, initial=-1) < 0
    yield from _find_bad_children("oct_child", arrays("oct_child"), arrays("mesh_octnum"), is_leaf)


def _find_bad_children(
    name: str, children: Ints, lengths: Ints, is_leaf: NDArray[np.bool_]
) -> Iterator[Fault]:
    """Finds children that are not later nodes of the same tree, or are those of two nodes."""
    nodes = np.concatenate([np.arange(length) for length in lengths]) if len(lengths) else lengths
    width = len(children) // max(len(nodes), 1)
    places, sizes = np.repeat(nodes, width), np.repeat(np.repeat(lengths, lengths), width)
    none = (children == -1) & np.repeat(is_leaf, width)
    is_right = none | ((children > places) & (children < sizes))
    yield from _list_faults(name, children, is_right, "a later node of the same tree")
    begins = np.repeat(np.repeat(np.cumsum(lengths) - lengths, lengths), width)
    found, counts = np.unique((children + begins)[children >= 0], return_counts=True)
    for node in found[counts > 1]:
        yield name, int(np.flatnonzero(children + begins == node)[1]), node, "a child of one node"


def _find_bad_histories(arrays: _Arrays) -> Iterator[Fault]:
    """Finds buffers of delayed values that do not follow each other: a head, times and values."""
    samples = np.concatenate([arrays(f"{kind}_history")[::2] for kind in ("actuator", "sensor")])
    begins = np.concatenate([arrays(f"{kind}_historyadr") for kind in ("actuator", "sensor")])
    widths = np.append(np.ones(arrays.size("nactuator"), np.int64), arrays("sensor_dim"))
    lengths = np.where(samples != 0, 2 + samples * (1 + widths), 0)
    yield from _find_bad_begins(
        "history", lengths, "historyadr", begins, arrays.size("nhistory"), none=-1
    )


def _find_bad_flexes(arrays: _Arrays) -> Iterator[Fault]:
    """Finds faults of flexes: blocks that overlap, and vertices, edges and cells of another flex."""
    dims, elements, shells = arrays("flex_dim"), arrays("flex_elemnum"), arrays("flex_shellnum")
    yield from _list_faults("flex_dim", dims, (dims >= 1) & (dims <= 3), "1, 2 or 3")
    yield from _list_faults("flex_shellnum", shells, shells >= 0, "at least 0")
    edges = np.array([0, 1, 3, 6])[np.clip(dims, 0, 3)]
    vertices = arrays("flex_vertnum")
    flexes = np.arange(len(dims))
    for begin, name, lengths, sizes in (
        ("flex_elemdataadr", "flex_elem", elements * (dims + 1), vertices),
        ("flex_elemedgeadr", "flex_elemedge", elements * edges, arrays("flex_edgenum")),
        ("flex_shelldataadr", "flex_shell", np.maximum(shells, 0) * dims, vertices),
    ):
        values = arrays(name)
        yield from _find_bad_begins(name, lengths, begin, arrays(begin), len(values))
        yield from _find_outside(name, values, 0, sizes[np.repeat(flexes, lengths)])
    of_edge = np.repeat(np.repeat(flexes, arrays("flex_edgenum")), 2)
    yield from _find_outside("flex_edge", arrays("flex_edge"), 0, vertices[of_edge])
    yield from _find_outside("flex_edgeflap", arrays("flex_edgeflap"), -1, vertices[of_edge])
    cells = np.maximum(arrays("flex_cellnum").reshape(-1, 3), 1).prod(axis=1)
    of_vertex = np.repeat(flexes, vertices)
    yield from _find_outside("flex_vertcell", arrays("flex_vertcell"), -1, cells[of_vertex])
    begins, lengths = arrays("flexedge_J_rowadr"), arrays("flexedge_J_rownnz")
    yield from _find_outside("flexedge_J_rownnz", lengths, 0, arrays.size("nJfe") - begins + 1)
    yield from _list_faults("flexedge_J_rowadr", begins, begins >= 0, "at least 0")


_FINDERS = (
    _find_bad_blocks,
    _find_bad_indices,
    _find_bad_kinds,
    _find_bad_trees,
    _find_bad_places,
    _find_bad_meshes,
    _find_bad_boxes,
    _find_bad_histories,
    _find_bad_flexes,
)
