package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill/bytesource"

	"github.com/operkit/operkit/smp"
)

// values makes JSON values and patches of the bytes of a fuzzer.
type values struct{ random *rand.Rand }

func newValues(data []byte) values { return values{rand.New(bytesource.New(data))} }

func (v values) chance(percent int) bool { return v.random.Intn(100) < percent }

func (v values) name() string {
	names := []string{"a", "b", "c", "d", "e", "f", "", "0", "c/d", "e~f", "~1", "ä"}
	return names[v.random.Intn(len(names))]
}

func (v values) any(depth int) any {
	if depth > 0 && v.chance(60) {
		return v.container(depth)
	}
	scalars := []any{nil, true, false, "", "a", "~", int64(0), int64(1), int64(-7), 1.5, int64(1) << 60}
	return scalars[v.random.Intn(len(scalars))]
}

func (v values) container(depth int) any {
	if v.chance(50) {
		list := make([]any, v.random.Intn(4))
		for i := range list {
			list[i] = v.any(depth - 1)
		}
		return list
	}
	object := map[string]any{}
	for range v.random.Intn(5) {
		object[v.name()] = v.any(depth - 1)
	}
	return object
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is a path that likely is in the document, or could be.
func (v values) pointer(document any) string {
	var b strings.Builder
	for at := document; !v.chance(20); {
		switch container := at.(type) {
		case map[string]any:
			name := v.name()
			if names := sortedKeys(container); len(names) > 0 && v.chance(85) {
				name = names[v.random.Intn(len(names))]
			}
			b.WriteString("/" + escaper.Replace(name))
			at = container[name]
		case []any:
			index := v.random.Intn(len(container) + 1)
			at = nil
			if index < len(container) {
				at = container[index]
			}
			token := strconv.Itoa(index)
			if v.chance(15) {
				odd := []string{"-", "-1", "00", "01", "+0", "1e0", "", "9", "18446744073709551616"}
				token = odd[v.random.Intn(len(odd))]
			}
			b.WriteString("/" + token)
		default:
			if v.chance(90) {
				return b.String()
			}
			b.WriteString("/a")
			return b.String()
		}
	}
	if v.chance(2) {
		odd := []string{"a", "a/b", "/~2", "/~", "#/a", "/"}
		return odd[v.random.Intn(len(odd))]
	}
	return b.String()
}

func (v values) operations(document any) []any {
	ops := []any{}
	for range 1 + v.random.Intn(4) {
		kinds := []string{"add", "add", "remove", "replace", "replace", "move", "copy", "test"}
		op := map[string]any{"op": kinds[v.random.Intn(len(kinds))], "path": v.pointer(document)}
		switch op["op"] {
		case "add", "replace":
			op["value"] = v.any(2)
		case "test":
			op["value"] = v.any(2)
			if found, ok := lookUp(document, op["path"].(string)); ok && v.chance(80) {
				op["value"] = found
			}
		case "move", "copy":
			op["from"] = v.pointer(document)
		}
		if v.chance(2) {
			op["op"] = "other"
		}
		if v.chance(2) {
			delete(op, []string{"op", "path", "value", "from"}[v.random.Intn(4)])
		}
		ops = append(ops, op)
	}
	return ops
}

// lookUp follows a pointer through a document, for the values of tests.
func lookUp(document any, pointer string) (any, bool) {
	tokens := strings.Split(pointer, "/")[1:]
	if pointer == "" {
		tokens = nil
	}
	for _, token := range tokens {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch container := document.(type) {
		case map[string]any:
			field, has := container[token]
			if !has {
				return nil, false
			}
			document = field
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(container) {
				return nil, false
			}
			document = container[index]
		default:
			return nil, false
		}
	}
	return document, true
}

// jsonOutcome is what one side makes of any JSON value.
type jsonOutcome struct {
	result any
	err    error
	panics any
}

func (o jsonOutcome) failed() bool { return o.err != nil || o.panics != nil }

func (o jsonOutcome) String() string {
	if o.failed() {
		return fmt.Sprint("error: ", o.err, o.panics)
	}
	return text(o.result)
}

func (o jsonOutcome) same(other jsonOutcome) bool {
	if o.failed() || other.failed() {
		return o.failed() && other.failed()
	}
	return reflect.DeepEqual(roundTrip(o.result), roundTrip(other.result))
}

// roundTrip makes every number a json.Number.
func roundTrip(value any) (out any) {
	decoder := json.NewDecoder(strings.NewReader(text(value)))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		return err.Error()
	}
	return out
}

func peerOutcome(do func() ([]byte, error)) (o jsonOutcome) {
	defer func() { o.panics = recover() }()
	encoded, err := do()
	if err != nil {
		return jsonOutcome{err: err}
	}
	decoder := json.NewDecoder(strings.NewReader(string(encoded)))
	decoder.UseNumber()
	err = decoder.Decode(&o.result)
	o.err = err
	return o
}

func peerJSON(document any, operations []any) jsonOutcome {
	return peerOutcome(func() ([]byte, error) {
		patch, err := jsonpatch.DecodePatch([]byte(text(operations)))
		if err != nil {
			return nil, err
		}
		options := jsonpatch.NewApplyOptions()
		options.SupportNegativeIndices = false
		return patch.ApplyWithOptions([]byte(text(document)), options)
	})
}

func ourJSON(document any, operations []any) jsonOutcome {
	result, err := smp.JSON(document, operations, smp.AllowIdentityChange())
	return jsonOutcome{result: result, err: err}
}

func FuzzJSON(f *testing.F) {
	for seed := range 300 {
		f.Add([]byte{0, 0, 0, 0, 0, 0, byte(seed >> 8), byte(seed)})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v := newValues(data)
		document := v.any(4)
		operations := v.operations(document)
		before, operationsBefore := runtime.DeepCopyJSONValue(document), runtime.DeepCopyJSONValue(operations)
		// One after the other: that tells which one is a finding, and later ones don't hide it.
		for i := range operations {
			ours := ourJSON(document, operations[:i+1])
			if shared, err := smp.JSON(document, operations[:i+1], smp.AllowIdentityChange(), smp.Shared()); (err == nil) != (ours.err == nil) ||
				!reflect.DeepEqual(shared, ours.result) {
				t.Fatalf("shared %s, %v; detached %s", text(shared), err, ours)
			}
			theirs := peerJSON(document, operations[:i+1])
			if !reflect.DeepEqual(before, document) || !reflect.DeepEqual(operationsBefore, any(operations)) {
				t.Fatal("an input was changed")
			}
			if ours.same(theirs) {
				continue
			}
			if explainJSON(document, operations[:i+1], ours, theirs) == "" {
				t.Fatalf("document %s\noperations %s\nours %s\npeer %s", text(document), text(operations[:i+1]), ours, theirs)
			}
			return
		}
	})
}

// explainJSON says by which rule smp's result isn't the peer's, of which all operations but the last gave the same. It
// is empty for a finding.
func explainJSON(document any, operations []any, ours, theirs jsonOutcome) string {
	last := operations[len(operations)-1].(map[string]any)
	before := ourJSON(document, operations[:len(operations)-1]).result
	switch {
	case theirs.panics != nil:
		return "smp panics on no input"
	case !isContainer(document) || !isContainer(before) || !ours.failed() && !isContainer(ours.result):
		return "RFC 6902: any value is a document, not only objects and lists"
	}
	switch tokens := tokensOf(last); {
	case slices.Contains(tokens, noPointer):
		return "RFC 6901: a pointer is empty or starts with a slash"
	case slices.Contains(tokens, ""):
		return "RFC 6901: an empty pointer is the document, an empty name is a name"
	case slices.ContainsFunc(tokens, oddIndex.MatchString):
		return "RFC 6901: an index has neither a sign nor leading zeros"
	case slices.ContainsFunc(tokens, badEscape.MatchString):
		return "RFC 6901: a tilde is followed by 0 or 1"
	}
	path, _ := last["path"].(string)
	from, _ := last["from"].(string)
	value, given := last["value"]
	_, exists := lookUp(before, path)
	switch {
	case last["op"] == "move" && ours.failed() && strings.HasPrefix(path, from+"/"):
		return "RFC 6902 4.4: nothing moves into itself"
	case last["op"] == "test" && smp.KindOf(ours.err) == smp.Invalid && !given:
		return "RFC 6902 4.6: a test has a value, which may be null"
	case last["op"] == "test" && theirs.failed() && given && value == nil && exists:
		return "RFC 6902 4.6: null is null"
	case last["op"] == "test" && ours.failed() && value == nil && !exists:
		return "RFC 6902 4.6: what isn't there isn't null"
	}
	return ""
}

var (
	oddIndex  = regexp.MustCompile(`^([+-]|0)[0-9]+$`)
	badEscape = regexp.MustCompile(`~([^01]|$)`)
)

// noPointer stands for a pointer that is none.
const noPointer = "\x00"

// tokensOf are the names and indices of all pointers of an operation. The empty pointer counts as an empty name, which
// the peer makes of it.
func tokensOf(operation map[string]any) (tokens []string) {
	for _, member := range []string{"path", "from"} {
		pointer, has := operation[member].(string)
		switch {
		case !has:
		case pointer == "":
			tokens = append(tokens, "")
		case pointer[0] != '/':
			tokens = append(tokens, noPointer)
		default:
			tokens = append(tokens, strings.Split(pointer, "/")[1:]...)
		}
	}
	return tokens
}

func isContainer(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	default:
		return false
	}
}

func FuzzMerge(f *testing.F) {
	for seed := range 300 {
		f.Add([]byte{0, 0, 0, 0, 0, 0, byte(seed >> 8), byte(seed)})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v := newValues(data)
		document, patch := v.any(4), v.any(4)
		if object, isMap := document.(map[string]any); isMap && v.chance(50) {
			copied := runtime.DeepCopyJSON(object)
			if other, both := patch.(map[string]any); both {
				maps.Copy(copied, other)
			}
			patch = copied
		}
		before, patchBefore := runtime.DeepCopyJSONValue(document), runtime.DeepCopyJSONValue(patch)
		result, err := smp.Merge(document, patch, smp.AllowIdentityChange())
		ours := jsonOutcome{result: result, err: err}
		shared, err := smp.Merge(document, patch, smp.AllowIdentityChange(), smp.Shared())
		if err != nil || !reflect.DeepEqual(shared, result) {
			t.Fatalf("shared %s, %v; detached %s", text(shared), err, ours)
		}
		if !reflect.DeepEqual(before, document) || !reflect.DeepEqual(patchBefore, patch) {
			t.Fatal("an input was changed")
		}
		theirs := peerOutcome(func() ([]byte, error) {
			return jsonpatch.MergePatch([]byte(text(document)), []byte(text(patch)))
		})
		if !ours.same(theirs) && explainMerge(document, patch, ours, theirs) == "" {
			t.Fatalf("document %s\npatch %s\nours %s\npeer %s", text(document), text(patch), ours, theirs)
		}
	})
}

// explainMerge says by which rule smp's result isn't the peer's, and is empty for a finding.
func explainMerge(document, patch any, ours, theirs jsonOutcome) string {
	bare := func(o jsonOutcome) jsonOutcome {
		o.result = withoutNulls(o.result)
		return o
	}
	switch {
	case theirs.panics != nil:
		return "smp panics on no input"
	case !isContainer(document) || !isContainer(patch):
		return "RFC 7386: any value is a document and a patch"
	case nullInList(patch, false) && bare(ours).same(bare(theirs)):
		return "RFC 7386: a list is taken as it is, nulls of objects in it included"
	}
	return ""
}

// nullInList tells whether an object somewhere in a list has a null.
func nullInList(value any, inList bool) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			if field == nil && inList || nullInList(field, inList) {
				return true
			}
		}
	case []any:
		for _, element := range value {
			if nullInList(element, true) {
				return true
			}
		}
	}
	return false
}
