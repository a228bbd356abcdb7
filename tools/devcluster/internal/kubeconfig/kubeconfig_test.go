package kubeconfig

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	out, err := Marshal(Config{
		Server: "https://127.0.0.1:1", Authority: []byte("ca"), User: "system:odd \"name\"",
		Certificate: []byte("cert"), Key: []byte("key"),
	})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, yaml.Unmarshal(out, &got))
	assert.Equal(t, map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "devcluster",
		"clusters": []any{map[string]any{"name": "devcluster", "cluster": map[string]any{
			"server": "https://127.0.0.1:1", "certificate-authority-data": "Y2E=",
		}}},
		"users": []any{map[string]any{"name": "system:odd \"name\"", "user": map[string]any{
			"client-certificate-data": "Y2VydA==", "client-key-data": "a2V5",
		}}},
		"contexts": []any{map[string]any{"name": "devcluster", "context": map[string]any{
			"cluster": "devcluster", "user": "system:odd \"name\"", "namespace": "default",
		}}},
	}, got)
}

func TestMarshalRefusesIncomplete(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{User: "bob"}, {Server: "https://127.0.0.1:1"}} {
		_, err := Marshal(c)
		assert.EqualError(t, err, "kubeconfig: server and user must be given")
	}
}
