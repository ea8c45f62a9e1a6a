//! Methods that several classes have, as macros: Python looks for them in each class.

/// What every class has that stands on a [`Handle`](crate::handle::Handle), its field `handle`.
/// `reduce` of the module of Python code pickles what is in memory.
macro_rules! handle_methods {
    ($class:ident, $module:literal) => {
        #[pyo3::pymethods]
        impl $class {
            /// Makes all changes final, in one step.
            fn commit(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome {
                self.handle.commit(py)
            }

            /// The same as `commit`.
            fn flush(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome {
                self.handle.commit(py)
            }

            /// Commits and closes; closing again does nothing.
            fn close(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome {
                self.handle.close(py)
            }

            fn _discard(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome {
                self.handle.discard(py)
            }

            /// Takes over what another program has committed.
            fn refresh(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome {
                self.handle.refresh(py)
            }

            /// The file or folder; `None` in memory.
            #[getter]
            fn path(&self) -> Option<String> {
                self.handle.path().map(|path| path.display().to_string())
            }

            /// The same as `path`.
            #[getter]
            fn urlpath(&self) -> Option<String> {
                self.path()
            }

            /// `'r'` or `'r+'`.
            #[getter]
            fn mode(&self) -> &'static str {
                self.handle.mode()
            }

            /// Whether `close` was called.
            #[getter]
            fn closed(&self, py: pyo3::Python<'_>) -> bool {
                self.handle.is_closed(py)
            }

            /// Checks the file as `superchunk.verify` does.
            #[pyo3(signature = (level = "files", **options))]
            fn verify<'py>(
                slf: pyo3::Bound<'py, Self>,
                py: pyo3::Python<'py>,
                level: &str,
                options: Option<&pyo3::Bound<'py, pyo3::types::PyDict>>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                use pyo3::prelude::*;
                py.import("superchunk._arrays")?.getattr("verify")?.call((slf, level), options)
            }

            fn __enter__(slf: pyo3::Bound<'_, Self>) -> pyo3::Bound<'_, Self> {
                slf
            }

            fn __exit__(
                &self,
                py: pyo3::Python<'_>,
                exception: &pyo3::Bound<'_, pyo3::PyAny>,
                _value: &pyo3::Bound<'_, pyo3::PyAny>,
                _traceback: &pyo3::Bound<'_, pyo3::PyAny>,
            ) -> $crate::errors::Outcome {
                self.handle.exit(py, exception)
            }

            fn __reduce_ex__<'py>(
                slf: pyo3::Bound<'py, Self>,
                py: pyo3::Python<'py>,
                protocol: u32,
            ) -> $crate::errors::Outcome<pyo3::Bound<'py, pyo3::PyAny>> {
                use pyo3::prelude::*;
                match slf.get().handle.reduce(py)? {
                    Some(reduced) => Ok(reduced.into_pyobject(py)?.into_any()),
                    None => Ok(py.import($module)?.getattr("reduce")?.call1((slf, protocol))?),
                }
            }
        }
    };
}

/// What every class has whose content is that of a frame; see [`Framed`](crate::frame::Framed).
macro_rules! frame_methods {
    ($class:ident) => {
        #[pyo3::pymethods]
        impl $class {
            /// The bytes that it takes where it is stored.
            #[getter]
            fn cbytes(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome<u64> {
                self.handle.read(py, 0, |held| Ok(held.frame().stored_len()?))
            }

            /// How many times smaller than its content it is where it is stored.
            #[getter]
            fn cratio(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome<f64> {
                Ok($crate::frame::ratio(self.nbytes(py)?, self.cbytes(py)?))
            }

            /// The bytes of a chunk; 0 if their sizes differ.
            #[getter]
            fn chunksize(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome<usize> {
                self.handle.read(py, 0, |held| Ok(held.frame().chunk_size().unwrap_or(0)))
            }

            /// The number of chunks.
            #[getter]
            fn nchunks(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome<usize> {
                self.handle.read(py, 0, |held| Ok(held.frame().chunk_count()))
            }

            /// How it is compressed: codec, level, filters and so on, as the keywords of functions
            /// that compress.
            #[getter]
            fn cparams<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> $crate::errors::Outcome<pyo3::Bound<'py, pyo3::types::PyDict>> {
                let options = self.handle.read(py, 0, |held| Ok(held.frame().options().clone()))?;
                $crate::frame::params(py, &options)
            }

            /// What is known of one chunk: codec, filters, sizes, special value.
            fn _chunk_info<'py>(
                &self,
                py: pyo3::Python<'py>,
                number: usize,
            ) -> $crate::errors::Outcome<pyo3::Bound<'py, pyo3::types::PyDict>> {
                let header =
                    self.handle.read(py, 0, |held| Ok(held.frame().chunk_header(number)?))?;
                $crate::frame::chunk_info(py, &header)
            }

            /// A chunk as it is stored.
            fn get_chunk<'py>(
                &self,
                py: pyo3::Python<'py>,
                number: usize,
            ) -> $crate::errors::Outcome<pyo3::Bound<'py, pyo3::types::PyBytes>> {
                let chunk = self.handle.read(py, usize::MAX, |held| {
                    Ok(held
                        .frame()
                        .compressed_chunk($crate::frame::existing(held.frame(), number)?)?)
                })?;
                Ok(pyo3::types::PyBytes::new(py, &chunk))
            }

            /// Values by name; a mapping that can be changed.
            #[getter]
            fn attrs<'py>(
                slf: pyo3::Bound<'py, Self>,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                use pyo3::prelude::*;
                py.import("superchunk._attrs")?.getattr("Attributes")?.call1((slf,))
            }

            /// The same as `attrs`.
            #[getter]
            fn vlmeta<'py>(
                slf: pyo3::Bound<'py, Self>,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                Self::attrs(slf, py)
            }

            /// The fixed metalayers by name: bytes, but for those that describe an array.
            #[getter]
            fn meta<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> $crate::errors::Outcome<pyo3::Bound<'py, pyo3::PyAny>> {
                use pyo3::prelude::*;
                let layers = self
                    .handle
                    .read(py, 0, |held| Ok($crate::metadata::layers_of(held.frame())))?;
                let layers = $crate::metadata::layers(py, layers)?;
                Ok(py.import("types")?.getattr("MappingProxyType")?.call1((layers,))?)
            }

            fn _set_layer(
                &self,
                py: pyo3::Python<'_>,
                name: &str,
                content: &[u8],
            ) -> $crate::errors::Outcome {
                self.handle.write(py, |held| Ok(held.frame_mut()?.set_metalayer(name, content)?))
            }

            fn _value_names(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome<Vec<String>> {
                self.handle.read(py, 0, |held| {
                    Ok(held.frame().attribute_names().map(str::to_owned).collect())
                })
            }

            fn _value<'py>(
                &self,
                py: pyo3::Python<'py>,
                name: &str,
            ) -> $crate::errors::Outcome<pyo3::Bound<'py, pyo3::PyAny>> {
                let value = self.handle.read(py, 0, |held| Ok(held.frame().attribute(name)?))?;
                Ok($crate::metadata::value(py, &value)?)
            }

            fn _set_value(
                &self,
                name: &str,
                value: &pyo3::Bound<'_, pyo3::PyAny>,
            ) -> $crate::errors::Outcome {
                let stored = $crate::metadata::stored(value)?;
                self.handle
                    .write(value.py(), |held| Ok(held.frame_mut()?.set_attribute(name, stored)?))
            }

            fn _remove_value(&self, py: pyo3::Python<'_>, name: &str) -> $crate::errors::Outcome {
                self.handle.write(py, |held| {
                    held.frame_mut()?.remove_attribute(name)?;
                    Ok(())
                })
            }

            fn __sizeof__(&self, py: pyo3::Python<'_>) -> $crate::errors::Outcome<u64> {
                let own = size_of::<Self>() as u64;
                if self.handle.path().is_some() || self.handle.is_closed(py) {
                    return Ok(own);
                }
                Ok(own + self.cbytes(py)?)
            }
        }
    };
}

pub(crate) use {frame_methods, handle_methods};
