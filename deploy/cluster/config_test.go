package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
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

func TestDefaultNamespace(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(kubeconfig, "cluster: two}", "cluster: two, namespace: shop}", 1)), 0o600))
	for context, want := range map[string]string{"": "default", "one": "default", "two": "shop", "three": "default"} {
		assert.Equal(t, want, cluster.DefaultNamespace(file, context), "context %q", context)
	}
	assert.Equal(t, "default", cluster.DefaultNamespace(filepath.Join(t.TempDir(), "absent"), ""))
}

// TestConfig sets the environment, so it isn't parallel.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(file, []byte(kubeconfig), 0o600))
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o600))
	headless := filepath.Join(dir, "headless")
	require.NoError(t, os.WriteFile(headless, []byte(strings.ReplaceAll(kubeconfig, "current-context: one", "")), 0o600))
	dangling := filepath.Join(dir, "dangling")
	require.NoError(t, os.WriteFile(dangling, []byte(strings.ReplaceAll(kubeconfig, "name: two, cluster: {server", "name: three, cluster: {server")), 0o600))
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	absent := filepath.Join(dir, "absent")
	for name, test := range map[string]struct {
		env, file, context string
		host               string
		says               []string
	}{
		"deploy 4: the file that KUBECONFIG names": {env: file, host: "https://one.example.invalid"},
		"the files that KUBECONFIG names":          {env: absent + ":" + file, host: "https://one.example.invalid"},
		"a file that is given":                     {file: file, host: "https://one.example.invalid"},
		"a file that is given goes before":         {env: bad, file: file, host: "https://one.example.invalid"},
		"another context":                          {file: file, context: "two", host: "https://two.example.invalid"},
		"no current context, but a given one":      {file: headless, context: "two", host: "https://two.example.invalid"},
		"a context that isn't there":               {file: file, context: "three", says: []string{"kubeconfig " + file, `context "three" does not exist`, "one, two"}},
		"no current context":                       {file: headless, says: []string{"kubeconfig " + headless, "no current context", "one, two"}},
		"a context without its cluster":            {file: dangling, context: "two", says: []string{dangling, `cluster "two", which does not exist`}},
		"a file that isn't there":                  {file: absent, says: []string{"kubeconfig " + absent + ": stat", "no such file", "name another one"}},
		"a file that is none":                      {file: bad, says: []string{"kubeconfig " + bad, "correct the file"}},
		"a file with nothing in it":                {file: empty, says: []string{"kubeconfig " + empty, "it has no cluster"}},
		"KUBECONFIG names nothing":                 {env: absent, says: []string{"no cluster: set KUBECONFIG", "tried " + absent}},
		"KUBECONFIG names nothing, with a context": {env: absent, context: "two", says: []string{`context "two"`, "tried " + absent}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			config, err := cluster.Config(test.file, test.context)
			for _, part := range test.says {
				require.ErrorContains(t, err, part)
			}
			if len(test.says) > 0 {
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.host, config.Host)
		})
	}
	t.Run("in a Pod without a token the token is named", func(t *testing.T) {
		t.Setenv("KUBECONFIG", absent)
		t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
		t.Setenv("KUBERNETES_SERVICE_PORT", "1")
		_, err := cluster.Config("", "")
		require.ErrorContains(t, err, "/var/run/secrets/kubernetes.io/serviceaccount/token")
		require.ErrorContains(t, err, "set KUBECONFIG")
	})
	t.Run("nothing at all is ErrNoCluster", func(t *testing.T) {
		t.Setenv("KUBECONFIG", filepath.Join(dir, "absent"))
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		_, err := cluster.Config("", "")
		require.ErrorIs(t, err, cluster.ErrNoCluster)
	})
}
