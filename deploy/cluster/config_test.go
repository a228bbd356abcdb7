package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: one, cluster: {server: "https://one.example.invalid"}}, {name: two, cluster: {server: "https://two.example.invalid"}}]
contexts: [{name: one, context: {cluster: one}}, {name: two, context: {cluster: two}}]
current-context: one
`

// TestConfig sets the environment, so it isn't parallel.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(file, []byte(kubeconfig), 0o600))
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o600))
	for name, test := range map[string]struct {
		env, file, context string
		host, says         string
	}{
		"deploy 4: the file that KUBECONFIG names": {env: file, host: "https://one.example.invalid"},
		"a file that is given":                     {file: file, host: "https://one.example.invalid"},
		"a file that is given goes before":         {env: bad, file: file, host: "https://one.example.invalid"},
		"another context":                          {file: file, context: "two", host: "https://two.example.invalid"},
		"a context that isn't there":               {file: file, context: "three", says: `kubeconfig: context "three" does not exist`},
		"a file that isn't there":                  {file: filepath.Join(dir, "absent"), says: "kubeconfig: stat"},
		"a file that is none":                      {file: bad, says: "kubeconfig: "},
		"KUBECONFIG names nothing":                 {env: filepath.Join(dir, "absent"), says: "no cluster: set KUBECONFIG"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			config, err := cluster.Config(test.file, test.context)
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.host, config.Host)
		})
	}
	t.Run("nothing at all is ErrNoCluster", func(t *testing.T) {
		t.Setenv("KUBECONFIG", filepath.Join(dir, "absent"))
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		_, err := cluster.Config("", "")
		require.ErrorIs(t, err, cluster.ErrNoCluster)
	})
}
