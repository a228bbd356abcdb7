package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPrivate(t *testing.T) {
	for _, row := range []struct {
		key, value, why string
		private         bool
	}{
		{"password", "changeme", "the key says so", true},
		{"password", "short", "it shows by chance", false},
		{"value", "a3f4c5d6e7b8", "letters and digits", true},
		{"value", "XK2JD8PAQOWIEJ", "a generated value", true},
		{"value", "correcthorsebattery", "longer than words are", true},
		{"client-secret", "correct horse", "the key says so", true},
		{"PGPASSWORD", "changeme", "in capital letters, too", true},
		{"aws_secret_access_key", "correct horse", "a key is a secret", true},
		{"password2", "changeme", "with a number", true},
		{"secretName", "tea-tls-secret", "the name of a Secret", false},
		{"secretName", "tea-tls-7d9c5f", "a generated name", false},
		{"passwordSecretRef", "tea/database", "a reference", false},
		{"tokenExpiration", "2031-01-01T00:00:00Z", "a time", false},
		{"token-expiry", "1893456000000", "a number of seconds", false},
		{"password", "password", "a word that shows everywhere", false},
		{"password", "Administrator", "or this", false},
		{"tokenEnabled", "disabled", "a switch", false},
		{"token", "true", "a short word", false},
		{"value", "2031-01-01T00:00:00Z", "a time", false},
		{"username", "app2user-v3x", "the name of a user", false},
		{"uri", "postgres://app:Xk29sdf8@db:5432", "a password is in it", true},
		{"host", "db.default.svc.cluster.local:5432", "the name of a host", false},
		{"user", "postgres", "a word", false},
		{"ca.crt", "-----BEGIN CERTIFICATE-----\nMIIB", "it is public", false},
		{"tls.key", "-----BEGIN PRIVATE KEY-----\nMIIB", "a key of a server", true},
	} {
		t.Run("explore 30: "+row.key+" "+row.value, func(t *testing.T) { assert.Equal(t, row.private, private(row.key, row.value), row.why) })
	}
}
