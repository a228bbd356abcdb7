package status_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

var errQuota = errors.New("quota exceeded")

// codeError is an error that brings its own reason.
type codeError struct{ code string }

func (e *codeError) Error() string { return "code " + e.code }

func declared(t *testing.T) *status.Declaration {
	t.Helper()
	d, err := status.Declare(
		status.Declared{Type: "Ready", Summarises: true},
		status.Declared{Type: "Database", Errors: []status.ErrorReason{
			status.ErrorIs(errQuota, "QuotaExceeded"),
			status.ErrorAs(func(err *codeError) string { return err.code }),
			{Match: func(err error) bool { return strings.Contains(err.Error(), "later") }, Reason: "Later", Status: metav1.ConditionUnknown},
		}},
		status.Declared{Type: "Degraded", Negative: true, Reset: true},
	)
	require.NoError(t, err)
	return d
}

func TestDeclareRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		types  []status.Declared
		want   error
	}{
		{"none", nil, status.ErrDeclaration},
		{"no type", []status.Declared{{}}, status.ErrInvalidType},
		{"a type twice", []status.Declared{{Type: "A"}, {Type: "A"}}, status.ErrDeclaration},
		{"two that summarise", []status.Declared{{Type: "A", Summarises: true}, {Type: "B", Summarises: true}}, status.ErrDeclaration},
		{"a reason that can't be", []status.Declared{{Type: "A", Errors: []status.ErrorReason{{Reason: "no reason"}}}}, status.ErrInvalidReason},
		{"a status that can't be", []status.Declared{{Type: "A", Errors: []status.ErrorReason{{Status: "Maybe"}}}}, status.ErrInvalidStatus},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			_, err := status.Declare(c.types...)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestVisit(t *testing.T) {
	t.Parallel()
	for name, obj := range kinds(t, metav1.Condition{Type: "Theirs", Status: "True", Reason: "R"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, conditions := declared(t), status.Conditions(obj)
			changed, err := d.Begin(now, obj, 1)
			require.NoError(t, err)
			require.True(t, changed, "the first visit: all of them, as Unknown")
			assert.Equal(t, []string{"Theirs", "Ready", "Database", "Degraded"}, types(obj), "what is there keeps its place, new ones follow in their order")
			assert.Equal(t, "Initializing", conditions.Reason("Ready"))
			assert.True(t, conditions.IsUnknown("Ready") && conditions.IsUnknown("Database") && conditions.IsUnknown("Degraded"))
			changed, err = d.Begin(now, obj, 2)
			require.NoError(t, err)
			assert.False(t, changed, "only the first one")

			visit := d.Visit(1)
			visit.Result("Database", nil)
			visit.Report("Degraded", metav1.ConditionFalse, "Fine", "")
			changed, err = visit.End(now, obj)
			require.NoError(t, err)
			require.True(t, changed)
			assert.True(t, conditions.IsTrue("Database") && conditions.IsFalse("Degraded") && conditions.IsTrue("Ready"))
			ready, _ := conditions.Get("Ready")
			assert.EqualValues(t, 1, ready.ObservedGeneration, "status 28: the generation that was looked at")
			changed, err = visit.End(now, obj)
			require.NoError(t, err)
			assert.False(t, changed, "said already")

			visit = d.Visit(1)
			changed, err = visit.End(now, obj)
			require.NoError(t, err)
			require.True(t, changed)
			assert.True(t, conditions.IsTrue("Database"), "kept")
			assert.Equal(t, "NotReported", conditions.Reason("Degraded"), "reset")
			assert.True(t, conditions.IsUnknown("Degraded") && conditions.IsTrue("Ready"), "no bad news were reported")
			assert.Equal(t, []string{"Theirs", "Ready", "Database", "Degraded"}, types(obj))
		})
	}
}

func TestVisitErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		err    error
		status metav1.ConditionStatus
		want   string
	}{
		{"by errors.Is, wrapped", fmt.Errorf("create: %w", errQuota), "False", "QuotaExceeded"},
		{"by errors.As, wrapped", fmt.Errorf("create: %w", &codeError{"Http503"}), "False", "Http503"},
		{"a reason that can't be falls back", &codeError{"not one"}, "False", "Error"},
		{"with a status of its own", errors.New("later"), "Unknown", "Later"},
		{"in no row", errors.New("else"), "False", "Error"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			obj := object{}
			visit := declared(t).Visit(3)
			visit.Result("Database", c.err)
			changed, err := visit.End(now, obj)
			require.NoError(t, err)
			require.True(t, changed)
			got, _ := status.Conditions(obj).Get("Database")
			assert.Equal(t, c.status, got.Status)
			assert.Equal(t, []string{c.want, c.err.Error()}, []string{got.Reason, got.Message})
			ready, _ := status.Conditions(obj).Get("Ready")
			assert.Equal(t, c.status, ready.Status, "the summary follows")
		})
	}
	t.Run("bad news of a negative type is True", func(t *testing.T) {
		t.Parallel()
		obj := object{}
		visit := declared(t).Visit(0)
		visit.Result("Database", nil)
		visit.Result("Degraded", errors.New("slow"))
		_, err := visit.End(now, obj)
		require.NoError(t, err)
		assert.True(t, status.Conditions(obj).IsTrue("Degraded"))
		assert.True(t, status.Conditions(obj).IsFalse("Ready"))
		assert.Equal(t, "Error", status.Conditions(obj).Reason("Ready"))
	})
	t.Run("a summary that is negative", func(t *testing.T) {
		t.Parallel()
		d, err := status.Declare(status.Declared{Type: "Up"}, status.Declared{Type: "Broken", Negative: true, Summarises: true})
		require.NoError(t, err)
		for result, want := range map[error]bool{nil: false, errQuota: true} {
			obj, visit := object{}, d.Visit(0)
			visit.Result("Up", result)
			_, err = visit.End(now, obj)
			require.NoError(t, err)
			assert.Equal(t, want, status.Conditions(obj).IsTrue("Broken"))
			assert.Equal(t, !want, status.Conditions(obj).IsFalse("Broken"))
		}
	})
}

func TestVisitRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		report func(*status.Visit)
		want   error
	}{
		{"a type that isn't declared", func(v *status.Visit) { v.Report("Other", "True", "R", "") }, status.ErrDeclaration},
		{"an error for one that isn't declared", func(v *status.Visit) { v.Result("Other", errQuota) }, status.ErrDeclaration},
		{"the summary", func(v *status.Visit) { v.Result("Ready", nil) }, status.ErrDeclaration},
		{"an invalid reason", func(v *status.Visit) { v.Report("Database", "True", "no reason", "") }, status.ErrInvalidReason},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			obj, visit := object{}, declared(t).Visit(0)
			visit.Result("Database", nil)
			c.report(visit)
			visit.Report("Nobody", "True", "R", "")
			changed, err := visit.End(now, obj)
			require.ErrorIs(t, err, c.want)
			assert.False(t, changed)
			assert.Empty(t, obj, "nothing is written")
		})
	}
	t.Run("no time", func(t *testing.T) {
		t.Parallel()
		_, err := declared(t).Visit(0).End(metav1.Time{}.Time, object{})
		require.ErrorIs(t, err, status.ErrNoTime)
		_, err = declared(t).Begin(metav1.Time{}.Time, object{}, 0)
		require.ErrorIs(t, err, status.ErrNoTime)
	})
	t.Run("a negative generation, although everything is there", func(t *testing.T) {
		t.Parallel()
		obj := object{}
		_, err := declared(t).Visit(1).End(now, obj)
		require.NoError(t, err)
		before := text(t, obj)
		changed, err := declared(t).Visit(-1).End(now, obj)
		require.ErrorIs(t, err, status.ErrInvalidGeneration)
		assert.False(t, changed)
		assert.Equal(t, before, text(t, obj), "nothing is written")
	})
	t.Run("no object", func(t *testing.T) {
		t.Parallel()
		_, err := declared(t).Visit(0).End(now, nil)
		require.ErrorIs(t, err, status.ErrUnsupportedObject)
		_, err = declared(t).Begin(now, nil, 0)
		require.ErrorIs(t, err, status.ErrUnsupportedObject)
	})
}

func TestVisitTypes(t *testing.T) {
	t.Parallel()
	obj := &oldObject{}
	changed, err := declared(t).Visit(4).End(now, obj)
	require.NoError(t, err)
	require.True(t, changed)
	assert.Len(t, obj.Status.Conditions, 3)
	assert.Equal(t, []string{"Ready", "Database", "Degraded"}, declared(t).Types())
}

// TestTwoControllers lets two declarations write one object in turn: once both
// have said what they have to say, nobody has anything to write.
func TestTwoControllers(t *testing.T) {
	t.Parallel()
	one, err := status.Declare(status.Declared{Type: "A1"}, status.Declared{Type: "A2", Summarises: true})
	require.NoError(t, err)
	other, err := status.Declare(status.Declared{Type: "B1"}, status.Declared{Type: "B2"})
	require.NoError(t, err)
	end := func(obj any, d *status.Declaration, reported string) bool {
		v := d.Visit(1)
		v.Result(reported, nil)
		changed, err := v.End(now, obj)
		require.NoError(t, err)
		begun, err := d.Begin(now, obj, 1)
		require.NoError(t, err)
		return changed || begun
	}
	for name, obj := range kinds(t, metav1.Condition{Type: "A2", Status: "Unknown", Reason: "R"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.True(t, end(obj, other, "B1"))
			require.True(t, end(obj, one, "A1"))
			assert.Equal(t, []string{"A2", "B1", "B2", "A1"}, types(obj), "the order in which they came")
			for range 3 {
				assert.False(t, end(obj, other, "B1"))
				assert.False(t, end(obj, one, "A1"))
			}
		})
	}
}

// TestUnreportedBadNews is about negative conditions that a visit says nothing of.
func TestUnreportedBadNews(t *testing.T) {
	t.Parallel()
	d := declared(t)
	for _, c := range []struct {
		reason string
		report func(*status.Visit)
		want   metav1.ConditionStatus
		why    string
	}{
		{"the rest is good", func(v *status.Visit) { v.Result("Database", nil) }, "True", "AllGood"},
		{"the rest is bad", func(v *status.Visit) { v.Result("Database", errQuota) }, "False", "QuotaExceeded"},
		{"the rest isn't known", func(v *status.Visit) { v.Report("Database", "Unknown", "Waits", "") }, "Unknown", "Waits"},
		{"nothing is known", func(*status.Visit) {}, "Unknown", "Initializing"},
		{"they are reported as unknown", func(v *status.Visit) { v.Result("Database", nil); v.Report("Degraded", "Unknown", "Waits", "") }, "Unknown", "Waits"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			obj := object{}
			for range 3 {
				visit := d.Visit(1)
				c.report(visit)
				_, err := visit.End(now, obj)
				require.NoError(t, err)
			}
			ready, _ := status.Conditions(obj).Get("Ready")
			assert.Equal(t, []string{string(c.want), c.why}, []string{string(ready.Status), ready.Reason})
		})
	}
}
