package status_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

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
