package status_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

// crowd is an object with n conditions.
func crowd(n int, name func(int) string) object {
	list := make([]any, n)
	for i := range list {
		list[i] = object{"type": name(i), "status": "True", "reason": "R", "lastTransitionTime": "9999-12-31T23:59:59Z"}
	}
	return object{"metadata": object{"resourceVersion": "1"}, "status": object{"conditions": list}}
}

func TestTenThousandOfOneType(t *testing.T) {
	t.Parallel()
	obj := crowd(10_000, func(int) string { return "Ready" })
	require.True(t, status.Conditions(obj).Set(now, isReady("True", "A", "")))
	require.Len(t, obj["status"].(object)["conditions"], 1)
	c, _ := status.Conditions(obj).Get("Ready")
	assert.Equal(t, 9999, c.LastTransitionTime.UTC().Year(), "a time of the far future is a time")
}

// crowded are objects that thousands of conditions get into, in each form.
var crowded = map[string]func() any{
	"map": func() any { return object{} }, "list": func() any { return &[]metav1.Condition{} },
	"accessor": func() any { return &typed{} }, "struct": func() any { return &plainObject{} },
	"struct of its own conditions": func() any { return &oldObject{} },
}

func typeName(i int) string { return fmt.Sprintf("T%d", i) }

// filling are the ways to write n conditions into an object.
var filling = map[string]func(t *testing.T, n int, into any) func(){
	"merged": func(t *testing.T, n int, into any) func() {
		conditions, source := status.Conditions(into), status.Conditions(crowd(n, typeName))
		return func() {
			require.True(t, conditions.Merge(now, source))
			require.False(t, conditions.Merge(now, source))
			require.NoError(t, conditions.Err())
		}
	},
	"begun": func(t *testing.T, n int, into any) func() {
		d := declaring(t, n)
		return func() {
			changed, err := d.Begin(now, into, 1)
			require.NoError(t, err)
			require.True(t, changed)
		}
	},
	"reported": func(t *testing.T, n int, into any) func() {
		d := declaring(t, n)
		return func() {
			visit := d.Visit(1)
			for i := 1; i < n; i++ {
				visit.Result(typeName(i), nil)
			}
			changed, err := visit.End(now, into)
			require.NoError(t, err)
			require.True(t, changed)
			require.True(t, status.Conditions(into).IsTrue(typeName(0)))
		}
	},
}

// declaring declares n types, of which the first summarises.
func declaring(t *testing.T, n int) *status.Declaration {
	t.Helper()
	types := make([]status.Declared, n)
	for i := range types {
		types[i] = status.Declared{Type: typeName(i), Summarises: i == 0}
	}
	d, err := status.Declare(types...)
	require.NoError(t, err)
	return d
}

// allocated is how many bytes it takes to write n conditions into an empty object.
func allocated(t *testing.T, kind, way string, n int) uint64 {
	t.Helper()
	into := crowded[kind]()
	run := filling[way](t, n, into)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	require.Len(t, status.Conditions(into).List(), n)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyGrowLinearly looks at the bytes that are allocated, which don't depend
// on the machine: whoever looks through a list of structs for each of its
// conditions makes a copy of it each time. It isn't parallel, since those of
// other tests would count.
func TestManyGrowLinearly(t *testing.T) {
	for kind := range crowded {
		for way := range filling {
			t.Run(way+", "+kind, func(t *testing.T) {
				allocated(t, kind, way, 10) // what is worked out once
				small, large := allocated(t, kind, way, 300), allocated(t, kind, way, 2400)
				assert.Less(t, large, 16*small, "eight times as many take eight times as much, not 64 times")
			})
		}
	}
}

func TestTenThousandTypes(t *testing.T) {
	t.Parallel()
	t.Run("nothing to update, one to send", func(t *testing.T) {
		source := crowd(10_000, typeName)
		_, changed, err := status.Application{}.Update(now, source["status"].(object))
		require.NoError(t, err)
		assert.False(t, changed)
		patch, err := status.Patch(object{"metadata": source["metadata"]}, source, status.MergePatch, typeName(1))
		require.NoError(t, err)
		assert.Len(t, patch["status"].(object)["conditions"], 1)
	})
}

func allAndOneByOne(t *testing.T, many, one any, source *[]metav1.Condition) {
	t.Helper()
	require.True(t, status.Conditions(many).Merge(now, status.Conditions(source)))
	for _, c := range *source {
		require.True(t, status.Conditions(one).Merge(now, status.Conditions(source), c.Type))
	}
}

// TestManyAreAsOneByOne holds the way of many to that of one.
func TestManyAreAsOneByOne(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(now.AddDate(-1, 0, 0))
	present := []metav1.Condition{
		{Type: "T3", Status: "False", Reason: "Old"}, {Status: "True", Reason: "Nameless"}, {Type: "Theirs", Status: "Maybe"},
		{Type: "T5", Status: "True", Reason: "R", LastTransitionTime: at}, {Type: "T3", Status: "True", Reason: "New", LastTransitionTime: at},
		{Type: "Theirs", Status: "True"},
	}
	source := &[]metav1.Condition{}
	for i := range 30 {
		c := metav1.Condition{Type: fmt.Sprintf("T%d", i), Status: "True", Reason: "R", Message: fmt.Sprint(i % 2)}
		if i == 5 { // flips, with the time that it was read with
			c.Status, c.LastTransitionTime = "False", at
		}
		if i == 7 {
			c.Message = strings.Repeat("long ", 10_000)
		}
		*source = append(*source, c)
	}
	alone := kinds(t, present...)
	for name, obj := range kinds(t, present...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := alone[name]
			allAndOneByOne(t, obj, one, source)
			if accessor, ok := obj.(*typed); ok {
				accessor.sets = one.(*typed).sets
			}
			assert.Equal(t, one, obj)
		})
	}
	t.Run("structs", func(t *testing.T) {
		t.Parallel()
		one, many := &plainObject{}, &plainObject{}
		one.Status.Conditions, many.Status.Conditions = append(one.Status.Conditions, present...), append(many.Status.Conditions, present...)
		allAndOneByOne(t, many, one, source)
		assert.Equal(t, one, many)
	})
	t.Run("structs of their own conditions", func(t *testing.T) {
		t.Parallel()
		one, many := &oldObject{}, &oldObject{}
		for i, c := range present {
			its := oldCondition{Type: conditionType(c.Type), Status: c.Status, Reason: c.Reason, LastTransitionTime: c.LastTransitionTime, LastProbeTime: fmt.Sprint(i)}
			one.Status.Conditions, many.Status.Conditions = append(one.Status.Conditions, its), append(many.Status.Conditions, its)
		}
		allAndOneByOne(t, many, one, source)
		assert.Equal(t, one, many)
		assert.Equal(t, "4", many.Status.Conditions[0].LastProbeTime, "the newest one is what the others go into")
	})
	t.Run("a time that is none, and nothing is merged", func(t *testing.T) {
		t.Parallel()
		obj := object{}
		conditions := status.Conditions(obj)
		require.False(t, conditions.Merge(time.Time{}, status.Conditions(source)))
		require.ErrorIs(t, conditions.Err(), status.ErrNoTime)
		assert.Empty(t, obj)
	})
}
