package smp

// StrategicBytes is [Strategic] on JSON texts.
//
// What is said here holds for every function of texts. Numbers stay exactly what they are; the
// result is written without white space and with the fields of objects in ascending order. A text is
// at most [MaxBytes] large and [MaxDepth] deep. A text that isn't JSON (RFC 8259), has a field twice
// in one object, invalid UTF-8 or half of a surrogate pair is an error of kind [Document] that names
// the text, the line and the offset. Where an object is needed null is an empty one, another value an
// error of kind [Invalid]. [Shared] has no effect.
func StrategicBytes(doc, patch []byte, schema Schema, opts ...Option) ([]byte, error) {
	return jsonText.strategic(doc, patch, schema, opts)
}

// JSONBytes is [JSON] on JSON texts; see [StrategicBytes].
func JSONBytes(doc, ops []byte, opts ...Option) ([]byte, error) {
	return jsonText.json(doc, ops, opts)
}

// MergeBytes is [Merge] on JSON texts; see [StrategicBytes].
func MergeBytes(doc, patch []byte, opts ...Option) ([]byte, error) {
	return jsonText.merge(doc, patch, opts)
}

// DiffBytes is [Diff] on JSON texts; see [StrategicBytes].
func DiffBytes(before, after []byte, schema Schema, opts ...Option) ([]byte, error) {
	return jsonText.diff(before, after, schema, opts)
}

// Diff3Bytes is [Diff3] on JSON texts; see [StrategicBytes].
func Diff3Bytes(original, modified, current []byte, schema Schema, opts ...Option) ([]byte, error) {
	return jsonText.diff3(original, modified, current, schema, opts)
}

// DiffJSONBytes is [DiffJSON] on JSON texts; see [StrategicBytes].
func DiffJSONBytes(before, after []byte, opts ...Option) ([]byte, error) {
	return jsonText.diffJSON(before, after, opts)
}

// DiffMergeBytes is [DiffMerge] on JSON texts; see [StrategicBytes].
func DiffMergeBytes(before, after []byte, opts ...Option) ([]byte, error) {
	return jsonText.diffMerge(before, after, opts)
}
