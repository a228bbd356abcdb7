package dryrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// Patch implements deploy.Port for JSON patches (RFC 6902) and JSON merge patches (RFC 7386) of an object or its
// status.
func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	if patch.Type == types.ApplyPatchType {
		return nil, fmt.Errorf("%s: an apply patch can't be sent by Patch: use Apply", ref)
	}
	if err := p.sendable(ref); err != nil {
		return nil, err
	}
	call := Call{Verb: VerbPatch, Ref: ref, Subresource: patch.Subresource, FieldManager: patch.FieldManager, DryRun: patch.DryRun, Body: patch.Body}
	return write(ctx, p.Cluster, call, nil, func(d *declaration) (*unstructured.Unstructured, error) {
		return p.patch(d, ref, patch, asking{ctx, call})
	})
}

func (p port) patch(d *declaration, ref deploy.Ref, patch deploy.PatchRequest, w asking) (*unstructured.Unstructured, error) {
	live := p.live(d, addressOf(ref))
	if err := d.serves(ref, patch.Subresource, live); err != nil {
		return nil, err
	}
	before, err := shown(live, d)
	if err != nil {
		return nil, err
	}
	next, err := patched(ref, before, patch)
	if err != nil {
		return nil, &deploy.InvalidError{Ref: ref, Err: err}
	}
	// A server drops unknown fields from a patch by default.
	d.unknown(next, true)
	return p.replace(d, ref, live, next, w)
}

// serves returns an error if live is nil, or if the kind doesn't have the subresource.
func (d *declaration) serves(ref deploy.Ref, subresource string, live *unstructured.Unstructured) error {
	switch {
	case subresource != "" && (subresource != statusSubresource || !d.status):
		return &deploy.NotFoundError{Ref: ref, Err: fmt.Errorf("subresource %s: not served for this kind", subresource)}
	case live == nil:
		return notFound(ref)
	}
	return nil
}

func patched(ref deploy.Ref, before *unstructured.Unstructured, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	var after any
	var err error
	switch patch.Type {
	case types.MergePatchType:
		var changes any
		if err = apijson.Unmarshal(patch.Body, &changes); err == nil {
			after = mergePatch(before.Object, changes)
		}
	case types.JSONPatchType:
		after, err = jsonPatch(before.Object, patch.Body)
	default:
		err = errors.New("not supported in memory")
	}
	if err != nil {
		return nil, fmt.Errorf("patch of type %q: %w", patch.Type, err)
	}
	content, _ := after.(map[string]any)
	next := &unstructured.Unstructured{Object: content}
	if next.GroupVersionKind() != ref.Kind {
		return nil, fmt.Errorf("patch changes kind and apiVersion to %q and %q", next.GetKind(), next.GetAPIVersion())
	}
	return next.DeepCopy(), nil
}

// operation is one step of a JSON patch (RFC 6902).
type operation struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// jsonPatch applies the operations in body to a copy of document, and returns the result.
func jsonPatch(document any, body []byte) (any, error) {
	var operations []operation
	if err := json.Unmarshal(body, &operations); err != nil {
		return nil, err
	}
	document = runtime.DeepCopyJSONValue(document)
	for i, o := range operations {
		var err error
		if document, err = o.apply(document); err != nil {
			return nil, fmt.Errorf("operation %d, %s: %w", i+1, o.Op, err)
		}
	}
	return document, nil
}

func (o operation) apply(document any) (any, error) {
	path, err := pointer("path", o.Path)
	if err != nil {
		return nil, err
	}
	switch o.Op {
	case "remove":
		return edit(document, path, remove)
	case "add", "replace", "test":
		value, err := o.value()
		if err != nil {
			return nil, err
		}
		return put(document, o.Op, path, value)
	case "move", "copy":
		from, err := pointer("from", o.From)
		if err != nil {
			return nil, err
		}
		return transfer(document, o.Op, from, path)
	}
	return nil, errors.New("unknown operation")
}

func (o operation) value() (any, error) {
	if o.Value == nil {
		return nil, errors.New("value is missing")
	}
	var value any
	return value, apijson.Unmarshal(o.Value, &value)
}

func put(document any, op string, path []string, value any) (any, error) {
	switch op {
	case "add":
		return edit(document, path, func(container any, key string) (any, error) { return insert(container, key, value) })
	case "replace":
		return edit(document, path, func(container any, key string) (any, error) { return set(container, key, value) })
	}
	found, err := lookup(document, path)
	if err != nil {
		return nil, err
	}
	have, _ := json.Marshal(found)
	want, err := json.Marshal(value)
	if err != nil || !bytes.Equal(have, want) {
		return nil, fmt.Errorf("%s is %s, not %s", joined(path), have, want)
	}
	return document, nil
}

func transfer(document any, op string, from, path []string) (any, error) {
	value, err := lookup(document, from)
	if err != nil {
		return nil, err
	}
	value = runtime.DeepCopyJSONValue(value)
	if op == "move" {
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return nil, fmt.Errorf("%s can't be moved into itself", joined(from))
		}
		if document, err = edit(document, from, remove); err != nil {
			return nil, err
		}
	}
	return put(document, "add", path, value)
}

// pointer splits a JSON pointer (RFC 6901).
func pointer(field string, text *string) ([]string, error) {
	if text == nil {
		return nil, errors.New(field + " is missing")
	}
	if *text == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(*text, "/")
	if !ok {
		return nil, fmt.Errorf("%s %q doesn't begin with a slash", field, *text)
	}
	tokens := strings.Split(rest, "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

func joined(path []string) string { return "/" + strings.Join(path, "/") }

// edit calls change with the map or list that has the last name in path, and returns the changed document. It changes
// the maps and lists on the path.
func edit(document any, path []string, change func(container any, key string) (any, error)) (any, error) {
	// Wrap the document in a list, so that an operation can replace the document itself, too.
	root, err := editBelow([]any{document}, append([]string{"0"}, path...), change)
	if err != nil {
		return nil, err
	}
	return lookup(root, []string{"0"})
}

func editBelow(container any, path []string, change func(container any, key string) (any, error)) (any, error) {
	if len(path) == 1 {
		return change(container, path[0])
	}
	child, err := lookup(container, path[:1])
	if err != nil {
		return nil, err
	}
	if child, err = editBelow(child, path[1:], change); err != nil {
		return nil, err
	}
	return set(container, path[0], child)
}

// lookup returns the value at path.
func lookup(value any, path []string) (any, error) {
	for _, key := range path {
		switch container := value.(type) {
		case map[string]any:
			child, ok := container[key]
			if !ok {
				return nil, fmt.Errorf("%q not found", key)
			}
			value = child
		case []any:
			i, err := index(key, len(container)-1)
			if err != nil {
				return nil, err
			}
			value = container[i]
		default:
			return nil, fmt.Errorf("%q not found: its parent is neither a map nor a list", key)
		}
	}
	return value, nil
}

// set replaces an entry that exists.
func set(container any, key string, value any) (any, error) {
	if _, err := lookup(container, []string{key}); err != nil {
		return nil, err
	}
	switch c := container.(type) {
	case map[string]any:
		c[key] = value
	case []any:
		i, _ := strconv.Atoi(key) // lookup has accepted the index
		c[i] = value
	}
	return container, nil
}

// insert adds an entry to a map, or an item to a list before the item with this index.
func insert(container any, key string, value any) (any, error) {
	switch c := container.(type) {
	case map[string]any:
		c[key] = value
		return c, nil
	case []any:
		if key == "-" {
			return append(c, value), nil
		}
		i, err := index(key, len(c))
		if err != nil {
			return nil, err
		}
		return slices.Insert(c, i, value), nil
	}
	return nil, fmt.Errorf("%q can't be added: its parent is neither a map nor a list", key)
}

// remove removes an entry that exists.
func remove(container any, key string) (any, error) {
	if _, err := lookup(container, []string{key}); err != nil {
		return nil, err
	}
	switch c := container.(type) {
	case map[string]any:
		delete(c, key)
	case []any:
		i, _ := strconv.Atoi(key) // lookup has accepted the index
		return slices.Delete(c, i, i+1), nil
	}
	return container, nil
}

// index parses an index of a list. It returns an error if the index is greater than last.
func index(key string, last int) (int, error) {
	i, err := strconv.ParseUint(key, 10, 31)
	if err != nil || strconv.FormatUint(i, 10) != key {
		return 0, fmt.Errorf("%q isn't an index", key)
	}
	if int(i) > last {
		return 0, fmt.Errorf("index %d is out of range", i)
	}
	return int(i), nil
}

// mergePatch applies a JSON merge patch (RFC 7386) without changing target.
func mergePatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if content, ok := target.(map[string]any); ok {
		merged = maps.Clone(content)
	}
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
		} else {
			merged[key] = mergePatch(merged[key], value)
		}
	}
	return merged
}
