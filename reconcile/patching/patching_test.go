package patching

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// colour is a patch that sets the colour of one object.
type colour struct {
	object, value string
	err           error
}

func (c colour) Name() string { return "paint " + c.value }

func (c colour) Apply(_ context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	switch {
	case component+"."+object != c.object:
		return nil, false, nil
	case c.value == "panic":
		panic("no paint")
	}
	content = maps.Clone(content)
	content["colour"] = c.value
	return content, true, c.err
}

// shelf is a Patcher with these patches.
type shelf struct {
	patches []Patch
	err     error
}

func (s shelf) Patches(_ context.Context, target Target) ([]Patch, error) {
	if target.Logger != nil {
		panic("the shelf is empty")
	}
	return s.patches, s.err
}

func object(kind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

var target = Target{Resource: object("House", "town", "one")}

func TestObjects(t *testing.T) {
	t.Parallel()
	door, wall := object("Door", "town", "front"), object("Wall", "elsewhere", "north")
	objects := []*unstructured.Unstructured{door, wall}
	red, blue := colour{object: "parts.door/front", value: "red"}, colour{object: "parts.door/front", value: "blue"}
	for _, row := range []struct {
		reason  string
		patcher Patcher
		door    any
		wall    any
	}{
		{"nobody patches", nil, nil, nil},
		{"no patches", shelf{}, nil, nil},
		{"one object of one component", shelf{patches: []Patch{red, colour{object: "other.door/front", value: "blue"}}}, "red", nil},
		{"in order", shelf{patches: []Patch{blue, red, colour{object: "parts.wall/elsewhere/north", value: "white"}}}, "red", "white"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			patched, err := Objects(t.Context(), row.patcher, target, "parts", objects)
			require.NoError(t, err)
			assert.Equal(t, []any{row.door, row.wall}, []any{patched[0].Object["colour"], patched[1].Object["colour"]})
			assert.NotContains(t, door.Object, "colour", "what is given isn't changed")
			assert.Equal(t, row.wall == nil, patched[1] == wall, "an object without a patch is the same one")
		})
	}
}

func TestPatchesThatFail(t *testing.T) {
	t.Parallel()
	objects := []*unstructured.Unstructured{object("Door", "town", "front")}
	for _, row := range []struct {
		reason  string
		patcher Patcher
		target  Target
		want    string
		class   status.ErrorClass
	}{
		{"it doesn't fit", shelf{patches: []Patch{colour{"parts.door/front", "red", errors.New("no such door")}}}, target,
			"object door/front: patch paint red: no such door", status.ErrorConfig},
		{"it panics", shelf{patches: []Patch{colour{object: "parts.door/front", value: "panic"}}}, target, "object door/front: patch paint panic: panic: no paint (patching_test.go)", status.ErrorConfig},
		{"they can't be read", shelf{err: errors.New("no shelf")}, target, "patches: no shelf", status.ErrorUnknown},
	} {
		_, err := Objects(t.Context(), row.patcher, row.target, "parts", objects)
		require.Error(t, err, row.reason)
		require.Equal(t, row.want, testlog.WithoutLines(err.Error()), row.reason)
		assert.Equal(t, row.class, request.ClassOf(err), row.reason)
	}
}

func TestObjectName(t *testing.T) {
	t.Parallel()
	for want, obj := range map[string]*unstructured.Unstructured{
		"door/front": object("Door", "town", "front"), "wall/elsewhere/north": object("Wall", "elsewhere", "north"), "namespace/town": object("Namespace", "", "town"),
	} {
		assert.Equal(t, want, ObjectName(deploy.RefOf(obj), "town"))
	}
	generated := object("Job", "town", "")
	generated.SetGenerateName("paint-")
	patches := shelf{patches: []Patch{colour{object: "parts.job/paint-", value: "red"}}}
	patched, err := Objects(t.Context(), patches, target, "parts", []*unstructured.Unstructured{generated})
	require.NoError(t, err)
	assert.Equal(t, "red", patched[0].Object["colour"])
}
