package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
)

// eight are conditions to set one of.
func eight() []metav1.Condition {
	list := make([]metav1.Condition, 8)
	for i := range list {
		list[i] = metav1.Condition{Type: fmt.Sprintf("Condition%d", i), Status: "True", Reason: "Fine", LastTransitionTime: metav1.NewTime(now)}
	}
	return list
}

func BenchmarkSet(b *testing.B) {
	at := now.UTC().Truncate(time.Second)
	flip := [...]metav1.Condition{
		{Type: "Condition5", Status: "True", Reason: "Fine", Message: "all is well"},
		{Type: "Condition5", Status: "False", Reason: "Broken", Message: "something is wrong"},
	}
	b.Run("typed", func(b *testing.B) {
		list := eight()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			status.Conditions(&list).Set(at, flip[i%2])
		}
	})
	obj := &unstructured.Unstructured{Object: object{}}
	for _, c := range eight() {
		require.True(b, status.Conditions(obj).Set(at, c))
	}
	b.Run("unstructured", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			status.Conditions(obj).Set(at, flip[i%2])
		}
	})
	b.Run("unstructured, unchanged", func(b *testing.B) {
		status.Conditions(obj).Set(at, flip[0])
		b.ReportAllocs()
		for b.Loop() {
			status.Conditions(obj).Set(at, flip[0])
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{500, 5000} {
		state := &status.ComponentState{}
		for i := range n {
			name := fmt.Sprintf("component-%d", i*7919%n)
			state.All = append(state.All, name)
			state.Verified = append(state.Verified, name)
		}
		a := own(status.ReadyStable, status.UpdatingStable)
		a.Components = state
		current, _, err := a.Update(now, nil)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("%d components", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := a.Update(now, current); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("compare %d components", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				status.Changed(current, current)
			}
		})
	}
}
