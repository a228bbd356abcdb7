package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/essence"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const kopfFinalizer = "kopf.zalando.org/KopfFinalizerMarker"

var ons = map[string]On{"create": Create, "update": Update, "delete": Delete, "resume": Resume, "field": Field, "event": Seen, "timer": Timer}

// objectOf returns the object of a case and its cause, for handlers with these fields.
func objectOf(c *vectortest.Case, fields ...[]string) Object {
	body, _ := c.Input["body"].(map[string]any)
	rules := essence.Rules{Extra: fields, Domains: []string{"kopf.zalando.org"}}
	o := Object{Body: body, New: rules.Of(body)}
	old, handled := c.Input["old"].(map[string]any)
	if handled {
		o.Old = rules.Clean(old)
	}
	metadata, _ := body["metadata"].(map[string]any)
	finalizers, _ := metadata["finalizers"].([]any)
	first, _ := c.Input["initial"].(bool)
	o.Reason = cause.Of(cause.State{
		Gone: c.Input["type"] == "DELETED", Deleting: metadata["deletionTimestamp"] != nil, Finalizer: slices.Contains(finalizers, any(kopfFinalizer)),
		Handled: handled, Changed: len(diff.Of(value(o.Old), value(o.New))) > 0, First: first,
	})
	o.First = first && o.Reason != cause.Create
	return o
}

// value returns a nil map as the absent value.
func value(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

func TestVectors(t *testing.T) {
	t.Run("causes", testCauses)
	t.Run("filters", testFilters)
}

func testCauses(t *testing.T) {
	vectortest.Run(t, "kopf-cause", func(t *testing.T, c *vectortest.Case) {
		if strings.HasPrefix(c.Name, "select/") {
			testSelect(t, c)
			return
		}
		want := c.Want(t).(map[string]any)
		o := objectOf(c)
		assert.Equal(t, want["reason"], string(o.Reason))
		assert.Equal(t, want["initial"], o.First)
		items := diff.Of(value(o.Old), value(o.New))
		wanted, _ := want["diff"].([]any)
		require.Len(t, items, len(wanted), "%v", items)
		for i, item := range items {
			expected := wanted[i].(map[string]any)
			assert.Equal(t, expected["op"], string(item.Op))
			assert.True(t, diff.Equal(expected["old"], item.Old) && diff.Equal(expected["new"], item.New), "%v", item)
		}
	})
}

// testSelect compares the handlers that are called. kopf appends the field to the id of a handler.
func testSelect(t *testing.T, c *vectortest.Case) {
	t.Helper()
	var handlers []Handler
	var fields [][]string
	var shown []string
	for _, each := range c.Input["handlers"].([]any) {
		given := each.(map[string]any)
		h := Handler{ID: given["id"].(string), On: ons[given["on"].(string)]}
		h.ResumeDeleted, _ = given["deleted"].(bool)
		h.Optional, _ = given["optional"].(bool)
		id := h.ID
		if field, ok := given["field"].(string); ok {
			h.Filter.Field = strings.Split(field, ".")
			fields = append(fields, h.Filter.Field)
			id += "/" + field
		}
		if slices.ContainsFunc(handlers, func(other Handler) bool { return other.ID == h.ID }) {
			continue // ids are unique here: a handler is declared once
		}
		handlers, shown = append(handlers, h), append(shown, id)
	}
	o := objectOf(c, fields...)
	selected, finalizer := []any{}, false
	for i, h := range handlers {
		assert.Equal(t, Decision{Sees(h, o), Called(h, o), NeedsFinalizer(h, o)}, Decide(h, o))
		if Called(h, o) {
			selected = append(selected, shown[i])
		}
		finalizer = finalizer || NeedsFinalizer(h, o)
	}
	want := c.Output.(map[string]any)
	expected := want["selected"]
	switch c.Rule {
	case "":
	case "field-handler-on-create", "field-handler-on-delete":
		c.Deviates("handlers 9: a field handler is called for updates only")
		expected = slices.DeleteFunc(slices.Clone(expected.([]any)), func(id any) bool { return strings.HasPrefix(id.(string), "f/") })
	default:
		t.Fatalf("unknown rule %s", c.Rule)
	}
	assert.Equal(t, want["reason"], string(o.Reason))
	assert.Equal(t, expected, selected)
	assert.Equal(t, want["finalizer_required"], finalizer)
}

func testFilters(t *testing.T) {
	vectortest.Run(t, "kopf-filters", func(t *testing.T, c *vectortest.Case) {
		given, _ := c.Input["filter"].(map[string]any)
		h := Handler{ID: "h", On: ons[c.Input["on"].(string)]}
		f, err := filterOf(t, given)
		h.Filter = f
		if err == nil {
			err = f.Validate(h.On)
		}
		if c.Error && !c.Doubtful {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		var fields [][]string
		if len(f.Field) > 0 {
			fields = append(fields, f.Field)
		}
		o := objectOf(c, fields...)
		want, _ := c.Want(t).(map[string]any)
		assert.Equal(t, want["selected"], Called(h, o), "selected")
		if want["reason"] != nil {
			assert.Equal(t, want["reason"], string(o.Reason))
		}
		if want["prematch"] != nil && !c.Doubtful {
			assert.Equal(t, want["prematch"], Sees(h, o), "seen")
		}
	})
}

func filterOf(t *testing.T, given map[string]any) (f Filter, err error) {
	t.Helper()
	if field, ok := given["field"].(string); ok {
		f.Field = strings.Split(field, ".")
	}
	for name, target := range map[string]*Check{"value": &f.Value, "old": &f.Old, "new": &f.New} {
		if given[name] != nil {
			*target = checkOf(t, given[name])
		}
	}
	for name, target := range map[string]*map[string]Check{"labels": &f.Labels, "annotations": &f.Annotations} {
		checks, _ := given[name].(map[string]any)
		for key, check := range checks {
			if *target == nil {
				*target = map[string]Check{}
			}
			(*target)[key] = checkOf(t, check)
		}
	}
	if given["when"] != nil {
		check := checkOf(t, given["when"])
		f.When = func(object map[string]any) bool { return check(object) }
	}
	return f, nil
}

func checkOf(t *testing.T, given any) Check {
	t.Helper()
	form := given.(map[string]any)
	require.Len(t, form, 1)
	for kind, content := range form {
		switch kind {
		case "is":
			return map[any]Check{"PRESENT": Present, "ABSENT": Absent}[content]
		case "equals":
			if content == nil {
				return nil // a null is no value: it is refused, as is no check at all
			}
			return Equal(content)
		case "fn":
			return functions[content.(string)]
		case "not":
			return Not(checkOf(t, content))
		}
		var checks []Check
		for _, one := range content.([]any) {
			checks = append(checks, checkOf(t, one))
		}
		switch kind {
		case "any":
			return Any(checks...)
		case "all":
			return All(checks...)
		case "none":
			return Not(Any(checks...))
		}
	}
	t.Fatal(fmt.Sprint("unknown form ", form))
	return nil
}

var functions = map[string]Check{
	"starts_a": func(v any) bool { text, ok := v.(string); return ok && strings.HasPrefix(text, "a") },
	"is_null":  Absent, "is_x": Equal("x"),
	"truthy": func(v any) bool {
		return v != nil && !slices.ContainsFunc([]any{false, int64(0), ""}, func(no any) bool { return diff.Equal(no, v) })
	},
	"name_starts_a": func(v any) bool {
		name, _ := diff.At(v, []string{"metadata", "name"}).(string)
		return strings.HasPrefix(name, "a")
	},
	"has_spec_a": func(v any) bool { return diff.At(v, []string{"spec", "a"}) != nil },
	"yes":        func(any) bool { return true }, "no": func(any) bool { return false },
}
