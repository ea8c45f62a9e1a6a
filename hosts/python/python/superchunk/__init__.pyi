"""Every Blosc-family format: arrays, tables and buffers, without a dependency."""

from . import compat as compat
from ._core import ChunkInfo as ChunkInfo
from ._core import Compressor as Compressor
from ._core import Detected as Detected
from ._core import Finding as Finding
from ._core import NDArray as NDArray
from ._core import Report as Report
from ._core import SalvageReport as SalvageReport
from ._core import chunk_info as chunk_info
from ._core import compress as compress
from ._core import copy as copy
from ._core import decompress as decompress
from ._core import decompress_into as decompress_into
from ._core import detect as detect
from ._core import get_nthreads as get_nthreads
from ._core import nthreads as nthreads
from ._core import open as open
from ._core import remove as remove
from ._core import salvage as salvage
from ._core import set_nthreads as set_nthreads
from ._core import verify as verify
from ._create import array as array
from ._create import asarray as asarray
from ._create import concat as concat
from ._create import concatenate as concatenate
from ._create import empty as empty
from ._create import from_npy as from_npy
from ._create import full as full
from ._create import full_like as full_like
from ._create import load as load
from ._create import ones as ones
from ._create import save as save
from ._create import stack as stack
from ._create import zeros as zeros
from ._create import zeros_like as zeros_like
from ._enums import Codec as Codec
from ._enums import Filter as Filter
from ._enums import SplitMode as SplitMode
from ._errors import ChangedError as ChangedError
from ._errors import CorruptError as CorruptError
from ._errors import DurabilityError as DurabilityError
from ._errors import Error as Error
from ._errors import InternalError as InternalError
from ._errors import InvalidArgumentError as InvalidArgumentError
from ._errors import IoError as IoError
from ._errors import IsAFolderError as IsAFolderError
from ._errors import LimitError as LimitError
from ._errors import LockedError as LockedError
from ._errors import MiscompressedError as MiscompressedError
from ._errors import NameNotFoundError as NameNotFoundError
from ._errors import NotAFolderError as NotAFolderError
from ._errors import NotFoundError as NotFoundError
from ._errors import PathExistsError as PathExistsError
from ._errors import PathNotFoundError as PathNotFoundError
from ._errors import PermissionDeniedError as PermissionDeniedError
from ._errors import TruncatedError as TruncatedError
from ._errors import UnsupportedError as UnsupportedError

__version__: str

def __dir__() -> list[str]: ...
