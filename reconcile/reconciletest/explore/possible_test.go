package explore

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPossible(t *testing.T) {
	claim := object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {accessModes: [ReadWriteOnce]}}")
	setting := object("{apiVersion: v1, kind: ConfigMap, metadata: {name: door}, data: {a: b}}")
	for _, row := range []struct {
		reason   string
		child    map[string]any
		strategy deploy.Strategy
		changed  bool
	}{
		{"it is applied", setting, deploy.ServerSideApply, true},
		{"it is only created", setting, deploy.CreateOnly, false},
		{"its spec can't be changed back", claim, deploy.ServerSideApply, false},
	} {
		t.Run("explore 15: an object is changed, or not: "+row.reason, func(t *testing.T) {
			once := func(_ *shop, s *reconcile.Session) error {
				s.Add("child").Add("child", row.child, reconcile.By(row.strategy))
				return nil
			}
			o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples")})
			require.NoError(t, err)
			e := explorerOf(t, of(once), o, startSessions)
			lives, err := e.lives()
			require.NoError(t, err)
			known, err := e.learn(lives[0])
			require.NoError(t, err)
			found := map[act]bool{}
			for _, c := range e.possible(known.trace, 0) {
				found[c.act] = true
			}
			assert.True(t, found[take], "it is deleted in any case")
			assert.Equal(t, row.changed, found[drift])
		})
	}
}
