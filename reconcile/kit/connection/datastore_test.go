package connection_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/kit/connection"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func resource(t testing.TB, datastores string) map[string]any {
	t.Helper()
	document := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte("{metadata: {name: a, namespace: shop}, spec: {datastores: "+datastores+"}}"), &document))
	return document
}

func TestFromResource(t *testing.T) {
	t.Parallel()
	reader := func() *cluster {
		return &cluster{objects: map[string]map[string]string{
			"Secret auth": {"u": "me", "p": "p:@/%"}, "Secret tls": {"crt": pemOfCA}, "Secret where": {"h": "::1", "num": "6379", "b": "photos"},
		}}
	}
	for _, row := range []struct {
		name, datastore, named, datastores, want string
		objects                                  int
	}{
		{"connection 13: camelCase", "postgres", "", "{postgres: {connection: {hostname: db, port: 5432, authSecretName: auth, authSecretUsernameField: u, authSecretPasswordField: p, tlsSecretName: tls, tlsSecretCertField: crt}}}", "me:p%3A%40%2F%25@db:5432", 2},
		{"connection 13: snake_case, a port as text", "postgres", "", "{postgres: {connection: {hostname: db, port: '5432', auth_secret_name: auth, auth_secret_username_field: u, auth_secret_password_field: p, tls_secret_name: null, tls_secret_cert_field: '', more: x}}}", "me:p%3A%40%2F%25@db:5432", 1},
		{"connection 13: a named one, without a user", "redis", "cache", "{redis: {cache: {connection: {hostname: db, port: 1, authSecretName: auth, authSecretPasswordField: p}}}}", ":p%3A%40%2F%25@db:1", 1},
		{"connection 13: host, port and bucket in a Secret", "cos", "", "{cos: {connection: {uri_secret: where, uri_secret_hostname_field: h, uri_secret_port_field: num, uri_secret_bucketname_field: b, auth_secret_name: auth, auth_secret_access_key_field: u, auth_secret_secret_key_field: p}}}", "me:p%3A%40%2F%25@[::1]:6379/photos", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			document := resource(t, row.datastores)
			before := runtime.DeepCopyJSON(document)
			source, found, err := connection.FromResource(document, row.datastore, row.named)
			require.NoError(t, err)
			require.True(t, found)
			assert.Equal(t, before, document)
			b, err := connection.Read(t.Context(), reader(), source)
			require.NoError(t, err)
			assert.Equal(t, "x://"+row.want, b.URL("x").Reveal())
			assert.Len(t, b.Objects(), row.objects)
		})
	}
	for _, datastores := range []string{"{}", "null", "{postgres: {}}", "{redis: {connection: {}}}", "{postgres: {other: {connection: {}}}}"} {
		t.Run("connection 14: there is none in "+datastores, func(t *testing.T) {
			t.Parallel()
			_, found, err := connection.FromResource(resource(t, datastores), "postgres", "")
			require.NoError(t, err)
			assert.False(t, found)
		})
	}
	for _, row := range []struct {
		name, named, content string
		want                 []string
	}{
		{"all that is missing", "", "{}", []string{"spec.datastores.postgres.connection.hostname: it is missing", "connection.port: it is missing", "connection.authSecretName: it is missing"}},
		{"a CA without its key", "", "{hostname: a, port: 1, authSecretName: a, authSecretPasswordField: p, tlsSecretName: tls}", []string{"set both tlsSecretName and tlsSecretCertField"}},
		{"no password", "", "{hostname: a, port: 1, authSecretName: a}", []string{"authSecretPasswordField: it is missing"}},
		{"a host and a port that can't be", "", "{hostname: 'http://a', port: x, authSecretName: a, authSecretPasswordField: p}", []string{"connection.hostname: it has to be a host name", "connection.port: it has to be a number"}},
		{"fields of other types", "", "{hostname: [a], port: 1.5, authSecretName: true, authSecretPasswordField: p}", []string{"connection.hostname: it has to be a text", "connection.port: it has to be a whole number"}},
		{"no object", "", "text", []string{"connection: it has to be an object"}},
		{"a reserved name", "connection", "{}", []string{"can't be called connection"}},
	} {
		t.Run("connection 14: "+row.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := connection.FromResource(resource(t, "{postgres: {connection: "+row.content+"}}"), "postgres", row.named)
			for _, want := range row.want {
				require.ErrorContains(t, err, want)
			}
			assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		})
	}
	t.Run("connection 14: a resource without a namespace", func(t *testing.T) {
		t.Parallel()
		document := resource(t, "{postgres: {connection: {hostname: a, port: 1, authSecretName: a, authSecretPasswordField: p}}}")
		delete(document["metadata"].(map[string]any), "namespace")
		_, _, err := connection.FromResource(document, "postgres", "")
		require.ErrorContains(t, err, "the resource has no namespace")
	})
}
