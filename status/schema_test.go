package status_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
)

// TestFields holds the Go type for schemas against what is written: a key that
// it lacks would be dropped by the API server, silently.
func TestFields(t *testing.T) {
	t.Parallel()
	a := own(status.ReadyStable, status.UpdatingStable)
	a.Generation, a.Version, a.OperatorVersion, a.SupportedVersions = 3, "1.0", "9", []string{"1.0", "2.0"}
	a.Components = &status.ComponentState{
		Verified: []string{"a"}, Unverified: []string{"b"}, Failed: []string{"c"},
		Unstarted: map[string]string{"d": "waits for c"}, Messages: map[string]string{"c": "failed"}, Graph: "a, b",
		Kinds: []string{"v1/ConfigMap"}, Disabled: []string{"e"},
	}
	written, _ := update(t, a, nil)
	stale, _ := update(t, own(status.ReadyErrored, status.UpdatingErrored), written)
	for name, st := range map[string]object{"with every part": written, "with stale components": stale} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fields status.Fields
			decoder := json.NewDecoder(bytes.NewReader([]byte(text(t, st))))
			decoder.DisallowUnknownFields()
			require.NoError(t, decoder.Decode(&fields))
			require.JSONEq(t, text(t, st), text(t, fields), "nothing is lost on the way through the type")
		})
	}
}

// TestFieldsSettle reads and writes a status through the Go type in turn: once
// it is written, the same input is no change.
func TestFieldsSettle(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T, st object) object{
		"JSON": func(t *testing.T, st object) object {
			var fields status.Fields
			require.NoError(t, json.Unmarshal([]byte(text(t, st)), &fields))
			return document(t, text(t, fields))
		},
		"the converter of unstructured objects": func(t *testing.T, st object) object {
			var fields status.Fields
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(st, &fields))
			st, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fields.DeepCopy())
			require.NoError(t, err)
			return st
		},
	}
	none, all, versions, nothing := own(status.ReadyStable, status.UpdatingStable), own(status.ReadyStable, status.UpdatingStable), own(status.ReadyStable, status.UpdatingStable), status.Application{}
	none.Components, none.Generation = &status.ComponentState{}, 1
	all.Components = &status.ComponentState{Verified: []string{"a"}, Unstarted: map[string]string{}, Messages: map[string]string{"a": ""}, Disabled: []string{"b"}}
	versions.SupportedVersions, versions.Version = []string{}, "1"
	for name, through := range ways {
		for reason, a := range map[string]status.Application{"no components": none, "all are verified": all, "no versions on offer": versions, "nothing to say": nothing} {
			t.Run(reason+", through "+name, func(t *testing.T) {
				t.Parallel()
				st, changed := update(t, a, nil)
				require.True(t, changed)
				for range 3 {
					st, changed = update(t, a, through(t, st))
					require.False(t, changed, text(t, st))
				}
			})
		}
	}
}
