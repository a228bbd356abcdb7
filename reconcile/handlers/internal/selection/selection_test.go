package selection

import (
	"testing"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/stretchr/testify/assert"
)

func TestCalled(t *testing.T) {
	t.Parallel()
	spec := func(size any) map[string]any { return map[string]any{"spec": map[string]any{"size": size}} }
	one, two := spec(int64(1)), spec(int64(2))
	size := Filter{Field: []string{"spec", "size"}}
	for _, row := range []struct {
		reason string
		h      Handler
		o      Object
		want   bool
	}{
		{"handlers 8: a resume handler joins an update", Handler{On: Resume}, Object{Body: two, New: two, Old: one, Reason: cause.Update, First: true}, true},
		{"handlers 8: but no creation", Handler{On: Resume}, Object{Body: two, New: two, Reason: cause.Create, First: true}, false},
		{"handlers 8: once", Handler{On: Resume}, Object{Body: two, New: two, Old: two, Reason: cause.Resume}, false},
		{"handlers 8: no deletion", Handler{On: Resume}, Object{Body: two, New: two, Reason: cause.Delete, First: true}, false},
		{"handlers 8: unless it asks for that", Handler{On: Resume, ResumeDeleted: true}, Object{Body: two, New: two, Reason: cause.Delete, First: true}, true},
		{"handlers 8: also if it is one for updates whose field didn't change", Handler{On: Resume | Update, Filter: size},
			Object{Body: two, New: two, Old: two, Reason: cause.Update, First: true}, true},
		{"handlers 9: a field handler needs a change of the field", Handler{On: Field, Filter: size}, Object{Body: two, New: two, Old: one, Reason: cause.Update}, true},
		{"handlers 9: another field changed", Handler{On: Field, Filter: size}, Object{Body: two, New: two, Old: two, Reason: cause.Update}, false},
		{"handlers 9: a creation isn't one", Handler{On: Field, Filter: size}, Object{Body: two, New: two, Reason: cause.Create}, false},
		{"handlers 9: unless the handler is for creations, too", Handler{On: Field | Create, Filter: size}, Object{Body: two, New: two, Reason: cause.Create}, true},
		{"handlers 9: a deletion isn't one either", Handler{On: Field, Filter: size}, Object{Body: two, New: two, Old: one, Reason: cause.Delete}, false},
		{"handlers 10: nothing is called for a noop", Handler{On: Create | Update | Delete | Resume | Field}, Object{Body: two, New: two, Old: two, Reason: cause.Noop}, false},
		{"handlers 10: seen handlers and timers always are", Handler{On: Seen}, Object{Body: two, Reason: cause.Noop}, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, Called(row.h, row.o))
			assert.Equal(t, row.want, Decide(row.h, row.o).Called)
		})
	}
}

func TestNeedsFinalizer(t *testing.T) {
	t.Parallel()
	body := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}
	labelled, other := Filter{Labels: map[string]Check{"a": Equal("b")}}, Filter{Labels: map[string]Check{"a": Absent}}
	for _, row := range []struct {
		reason string
		h      Handler
		want   bool
	}{
		{"handlers 11: a deletion handler needs it", Handler{On: Delete, Filter: labelled}, true},
		{"handlers 11: unless it is optional", Handler{On: Delete, Optional: true, Filter: labelled}, false},
		{"handlers 11: only if the object matches", Handler{On: Delete, Filter: other}, false},
		{"handlers 11: what runs beside the object needs it", Handler{On: Daemon, Filter: labelled}, true},
		{"handlers 11: a timer needs none", Handler{On: Timer, Filter: labelled}, false},
		{"handlers 11: others don't", Handler{On: Create | Update | Resume | Field | Seen}, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, NeedsFinalizer(row.h, Object{Body: body, New: body}))
			assert.Equal(t, row.want, Decide(row.h, Object{Body: body, New: body}).NeedsFinalizer)
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		filter Filter
		on     On
		want   string
	}{
		{"handlers 12: a value without a field", Filter{Value: Present}, Update, "a value is checked, but no field is named"},
		{"handlers 12: an empty name in a path", Filter{Field: []string{"spec", ""}}, Update, `field "spec."`},
		{"handlers 12: value and old", Filter{Field: []string{"spec"}, Value: Present, Old: Present}, Update, "use Value, or Before and After"},
		{"handlers 12: old, but not only for updates", Filter{Field: []string{"spec"}, Old: Present}, Update | Create, "only handlers of updates"},
		{"handlers 12: no check", Filter{Labels: map[string]Check{"a": nil}}, Create, "a: nil check"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, row.filter.Validate(row.on), row.want)
		})
	}
	assert.NoError(t, Filter{Field: []string{"spec"}, Old: Present, New: Absent}.Validate(Field|Update))
}
