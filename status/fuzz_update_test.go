package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
)

// FuzzUpdate computes a status over whatever JSON object there is: no input is
// mutated, foreign keys stay, and the second update has nothing to do.
func FuzzUpdate(f *testing.F) {
	for _, seed := range oddStatuses {
		f.Add([]byte(seed), "Stable", "VerifyWait", "m", int64(3), "1.0", "Widget", true, false, false)
		f.Add([]byte(seed), "", "ClusterError", "m", int64(3), "1.0", "", true, false, true)
		f.Add([]byte(seed), "", "", "", int64(0), "", "", false, true, false)
		f.Add([]byte(seed), "Nope", "Errored", "x\xff", int64(-1), "\xff", "\xff", false, true, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, ready, updating, message string, generation int64, version, kind string, components, floats, onlyReady bool) {
		current, ok := decode(data, floats)
		if !ok {
			return
		}
		version, kind = strings.ToValidUTF8(version, "?"), strings.ToValidUTF8(kind, "?")
		generation %= 1 << 53 // a float64 holds no more
		a := status.Application{
			Ready:      status.ReadyVerdict{Reason: status.ReadyReason(ready), Message: message},
			Updating:   status.UpdatingVerdict{Reason: status.UpdatingReason(updating), Message: message},
			Generation: generation, Version: version, Kind: kind, Warn: func(string) {}, OnlyReady: onlyReady,
		}
		if components {
			a.Components = &status.ComponentState{Verified: []string{version, kind}, Unstarted: map[string]string{ready: message}}
		}
		before := text(t, current)
		next, changed, err := a.Update(now, current)
		require.Equal(t, before, text(t, current))
		if err != nil {
			require.Nil(t, next)
			return
		}
		require.Equal(t, changed, status.Changed(current, next))
		again, twice, err := a.Update(now.Add(time.Hour), next)
		require.NoError(t, err)
		require.False(t, twice)
		require.Equal(t, next, again)
		settled, _ := decode([]byte(text(t, next)), floats)
		_, thrice, err := a.Update(now.Add(time.Hour), settled)
		require.NoError(t, err)
		require.False(t, thrice, "nothing to do, as the API server gives it back")
		for key, value := range current {
			switch key {
			case "conditions", "versions", "componentStatus", "observedGeneration", "reconciledGeneration", "operatorVersion":
			default:
				if _, text := value.(string); !text { // a service status may be replaced
					require.Equal(t, value, next[key])
				}
			}
		}
	})
}
