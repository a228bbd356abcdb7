package explore

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPossible(t *testing.T) {
	for strategy, changed := range map[deploy.Strategy]bool{deploy.ServerSideApply: true, deploy.CreateOnly: false} {
		t.Run("explore 15: an object is changed unless its strategy leaves it as it is: "+string(strategy), func(t *testing.T) {
			once := func(_ *shop, s *reconcile.Session) error {
				s.Add("door").Add("door", door(s, "open"), reconcile.By(strategy))
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
			assert.Equal(t, changed, found[drift])
		})
	}
}
