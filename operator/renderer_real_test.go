package operator_test

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An API server reads the values of some Secrets, so a mask has to be such a value.
func TestAPIServerTakesMaskedSecrets(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	api, err := cluster.New(ctx, env.Admin)
	require.NoError(t, err)
	t.Cleanup(func() { stop(); api.Wait() })
	for kind, keys := range map[string][]string{
		"Opaque": {"password"}, "kubernetes.io/tls": {"tls.crt", "tls.key"}, "kubernetes.io/basic-auth": {"username", "password"}, "kubernetes.io/ssh-auth": {"ssh-privatekey"},
		"kubernetes.io/dockerconfigjson": {".dockerconfigjson"}, "kubernetes.io/dockercfg": {".dockercfg"},
	} {
		for _, field := range []string{"data", "stringData"} {
			t.Run("reconcile 17: "+kind+" in "+field, func(t *testing.T) {
				values := map[string]any{}
				for _, key := range keys {
					values[key] = `{"auths": {}}`
					if field == "data" {
						values[key] = base64.StdEncoding.EncodeToString([]byte(`{"auths": {}}`))
					}
				}
				secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": kind, field: values,
					"metadata": map[string]any{"namespace": env.Namespace}}}
				secret.SetName("masked-" + lettersOf(kind+field))
				manager, err := deploy.NewManager(api)
				require.NoError(t, err)
				results, err := manager.Apply(t.Context(), []*unstructured.Unstructured{manifest.Mask(secret)})
				require.NoError(t, err)
				assert.Equal(t, deploy.Created, results[0].Action)
			})
		}
	}
}

// lettersOf makes a name of anything.
func lettersOf(text string) string {
	name := ""
	for _, c := range []byte(text) {
		name += string('a' + rune(c)%26)
	}
	return name
}
