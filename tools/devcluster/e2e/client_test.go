package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/pki"
)

// client is an API client of the user that a kubeconfig is for.
func client(t *testing.T, kubeconfig string) *api.Client {
	t.Helper()
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string `json:"server"`
				Authority []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(kubeconfig), &config))
	require.Len(t, config.Clusters, 1)
	require.Len(t, config.Users, 1)
	c, err := api.NewClient(config.Clusters[0].Cluster.Server, config.Clusters[0].Cluster.Authority,
		pki.Pair{Certificate: config.Users[0].User.Certificate, Key: config.Users[0].User.Key})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// user is an API client of a new user of the cluster.
func (c *cluster) user(name string, groups ...string) *api.Client {
	c.t.Helper()
	arguments := []string{"kubeconfig", "--dir", string(c.dir), "--user", name}
	for _, group := range groups {
		arguments = append(arguments, "--group", group)
	}
	code, stdout, stderr := devcluster(c.t, arguments...)
	require.Zero(c.t, code, stderr)
	return client(c.t, stdout)
}
