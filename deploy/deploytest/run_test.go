package deploytest_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/operkit/operkit/deploy/deploytest"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	t.Parallel()
	deploytest.Run(t, func(t *testing.T) deploytest.World {
		cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.CollectUnknownOwners())
		require.NoError(t, err)
		t.Cleanup(cluster.Wait)
		return deploytest.World{Cluster: cluster, Namespace: "shop"}
	})
}

// A run that leaves cases out doesn't pass, though none of its cases fails.
func TestRunOfSome(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRun$/^cases$/^kinds$", "-test.v").CombinedOutput()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, "%s", out)
	assert.Regexp(t, `deploytest: [1-9][0-9]? of [0-9]{3} cases passed`, string(out))
	assert.NotRegexp(t, regexp.MustCompile(`--- FAIL: TestRun/cases/`), string(out))
}
