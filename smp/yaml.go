package smp

// StrategicYAML is [Strategic] on YAML texts.
//
// What is said here holds for every function of YAML texts, and beside it what is said of
// [StrategicBytes]. Texts are read as kubectl reads them (YAML 1.1), and strictly: a field that an
// object has twice, a second document in the text, NaN, and a number of more digits than would be
// kept are errors of kind [Document]. Results are written in blocks; comments are lost, anchors
// resolved.
func StrategicYAML(doc, patch []byte, schema Schema, opts ...Option) ([]byte, error) {
	return yamlText.strategic(doc, patch, schema, opts)
}

// JSONYAML is [JSON] on YAML texts; see [StrategicYAML].
func JSONYAML(doc, ops []byte, opts ...Option) ([]byte, error) {
	return yamlText.json(doc, ops, opts)
}

// MergeYAML is [Merge] on YAML texts; see [StrategicYAML].
func MergeYAML(doc, patch []byte, opts ...Option) ([]byte, error) {
	return yamlText.merge(doc, patch, opts)
}

// DiffYAML is [Diff] on YAML texts; see [StrategicYAML].
func DiffYAML(before, after []byte, schema Schema, opts ...Option) ([]byte, error) {
	return yamlText.diff(before, after, schema, opts)
}

// Diff3YAML is [Diff3] on YAML texts; see [StrategicYAML].
func Diff3YAML(original, modified, current []byte, schema Schema, opts ...Option) ([]byte, error) {
	return yamlText.diff3(original, modified, current, schema, opts)
}

// DiffJSONYAML is [DiffJSON] on YAML texts; see [StrategicYAML].
func DiffJSONYAML(before, after []byte, opts ...Option) ([]byte, error) {
	return yamlText.diffJSON(before, after, opts)
}

// DiffMergeYAML is [DiffMerge] on YAML texts; see [StrategicYAML].
func DiffMergeYAML(before, after []byte, opts ...Option) ([]byte, error) {
	return yamlText.diffMerge(before, after, opts)
}
