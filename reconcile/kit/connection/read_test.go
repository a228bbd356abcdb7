package connection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/connection"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A session of package reconcile is a Reader.
var _ connection.Reader = (*reconcile.Session)(nil)

var db = connection.Source{Namespace: "shop", Secret: "db"}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		objects map[string]map[string]string
		source  connection.Source
		want    connection.Binding
		pass    string
		objs    int
	}{
		{name: "connection 1: the Service Binding specification", source: db, objects: map[string]map[string]string{"Secret db": {
			"type": "postgresql", "provider": "bitnami", "host": "db.example.com", "port": "5432", "username": "u", "password": "p", "database": "orders", "certificates": pemOfCA,
		}}, want: connection.Binding{Type: "postgresql", Provider: "bitnami", Host: "db.example.com", Port: 5432, Username: "u", Database: "orders", CA: []byte(pemOfCA)}, pass: "p", objs: 1},
		{name: "connection 1: CloudNativePG, with the CA in a Secret of its own", source: connection.Source{Namespace: "shop", Secret: "db", CASecret: "db-ca"}, objects: map[string]map[string]string{
			"Secret db":    {"username": "app", "user": "app", "password": "p", "dbname": "app", "host": "db-rw", "port": "5432", "pgpass": "db-rw:5432:app:app:p", "uri": "postgresql://app:p@db-rw.shop:5432/app", "jdbc-uri": "jdbc:postgresql://db-rw"},
			"Secret db-ca": {"ca.crt": pemOfCA, "ca.key": "key"},
		}, want: connection.Binding{Host: "db-rw", Port: 5432, Username: "app", Database: "app", CA: []byte(pemOfCA)}, pass: "p", objs: 2},
		{name: "connection 1: an ObjectBucketClaim", source: connection.Source{Namespace: "shop", Secret: "db", ConfigMap: "db"}, objects: map[string]map[string]string{
			"Secret db":    {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "p"},
			"ConfigMap db": {"BUCKET_HOST": "rgw.rook", "BUCKET_PORT": "80", "BUCKET_NAME": "photos", "BUCKET_REGION": "eu"},
		}, want: connection.Binding{Host: "rgw.rook", Port: 80, Username: "id", Database: "photos", Region: "eu"}, pass: "p", objs: 2},
		{name: "connection 2: the Secret counts before the ConfigMap, and a password in a ConfigMap doesn't", source: connection.Source{Namespace: "shop", Secret: "db", ConfigMap: "db"}, objects: map[string]map[string]string{
			"Secret db": {"host": "a"}, "ConfigMap db": {"host": "b", "password": "x", "uri": "redis://x"},
		}, want: connection.Binding{Host: "a"}, objs: 2},
		{name: "connection 8: each of several objects is followed and read once", source: connection.Source{Namespace: "shop", Secret: "db", ConfigMap: "net"},
			objects: map[string]map[string]string{"Secret db": {"host": "db", "user": "u", "password": "p"}, "ConfigMap net": {"port": "1"}},
			want:    connection.Binding{Host: "db", Port: 1, Username: "u"}, pass: "p", objs: 2},
		{name: "connection 2: single parts in other keys and as values", source: connection.Source{Namespace: "shop", Secret: "db", Parts: map[connection.Part]connection.From{
			connection.Host: {Value: "here"}, connection.Port: {ConfigMap: "net", Key: "p"}, connection.Password: {Secret: "pw", Key: "it"},
		}}, objects: map[string]map[string]string{"Secret db": {"user": "u", "host": "ignored"}, "ConfigMap net": {"p": "6379"}, "Secret pw": {"it": "p"}},
			want: connection.Binding{Host: "here", Port: 6379, Username: "u"}, pass: "p", objs: 3},
		{name: "connection 3: what only the URI has", source: db, objects: map[string]map[string]string{"Secret db": {"uri": "redis://me:p%3A%40%2F%25@[2001:db8::1]:6379/3?x=y"}},
			want: connection.Binding{Host: "2001:db8::1", Port: 6379, Username: "me", Database: "3"}, pass: "p:@/%", objs: 1},
		{name: "connection 3: keys count before the URI", source: db, objects: map[string]map[string]string{"Secret db": {"uri": "redis://me:old@far:1/3", "host": "near", "password": "p"}},
			want: connection.Binding{Host: "near", Port: 1, Username: "me", Database: "3"}, pass: "p", objs: 1},
		{name: "connection 4: line ends around a host, spaces in a password", source: db, objects: map[string]map[string]string{"Secret db": {"host": "db\n", "port": " 5432\n", "username": "u\n", "password": " p "}},
			want: connection.Binding{Host: "db", Port: 5432, Username: "u"}, pass: " p ", objs: 1},
		{name: "connection 4: an IPv6 host in brackets", source: db, objects: map[string]map[string]string{"Secret db": {"host": "[2001:DB8::1]"}}, want: connection.Binding{Host: "2001:db8::1"}, objs: 1},
		{name: "connection 3: a URI with several hosts, beside a host and a port", source: db, objects: map[string]map[string]string{"Secret db": {"host": "h1", "port": "1", "uri": "postgres://h1:1,h2:2/shop"}}, want: connection.Binding{Host: "h1", Port: 1, Database: "shop"}, objs: 1},
		{name: "connection 3: an IPv6 host in a URI", source: db, objects: map[string]map[string]string{"Secret db": {"uri": "postgres://[2001:DB8::1]:5432/"}}, want: connection.Binding{Host: "2001:db8::1", Port: 5432}, objs: 1},
		{name: "connection 4: an empty key counts as none", source: db, objects: map[string]map[string]string{"Secret db": {"host": "", "hostname": "db", "port": ""}}, want: connection.Binding{Host: "db"}, objs: 1},
		{name: "connection 4: other keys may have any content", source: db, objects: map[string]map[string]string{"Secret db": {"host": "db", "keystore": "\xff\xfe"}}, want: connection.Binding{Host: "db"}, objs: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			reader := &cluster{objects: row.objects}
			got, err := connection.Read(t.Context(), reader, row.source)
			require.NoError(t, err)
			assert.Equal(t, row.want, connection.Binding{Type: got.Type, Provider: got.Provider, Host: got.Host, Port: got.Port, Username: got.Username, Database: got.Database, Region: got.Region, CA: got.CA})
			assert.Equal(t, row.pass, got.Password.Reveal())
			assert.Len(t, got.Objects(), row.objs, "what it was read from")
			assert.Len(t, reader.followed, row.objs, "each object is followed once")
		})
	}
}

// hush is a text that nothing may show.
const hush = "zzHUSHzz"

func TestWrong(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		reader  *cluster
		source  connection.Source
		waits   bool
		message string
	}{
		{"connection 5: no Secret", secret(nil), connection.Source{Namespace: "shop", Secret: "other"}, true, "Secret shop/other isn't there yet"},
		{"connection 5: no ConfigMap", secret(map[string]string{"host": "a"}), connection.Source{Namespace: "shop", Secret: "db", ConfigMap: "net"}, true, "ConfigMap shop/net isn't there yet"},
		{"connection 5: no host yet", secret(map[string]string{"password": hush}), db, true, "no host yet: Secret shop/db has no key host or hostname or BUCKET_HOST"},
		{"connection 5: a required part isn't there", secret(map[string]string{"host": "a"}), connection.Source{Namespace: "shop", Secret: "db", Require: []connection.Part{connection.Password}}, true, "no password yet: Secret shop/db has no key password"},
		{"connection 5: a required part that nothing names", secret(map[string]string{"host": "a"}), connection.Source{Namespace: "shop", Parts: map[connection.Part]connection.From{connection.Host: {Secret: "db", Key: "host"}}, Require: []connection.Part{connection.CA}}, true, "nothing says where the ca.crt is"},
		{"connection 6: a port that is no number", secret(map[string]string{"host": "a", "port": hush}), db, false, "Secret shop/db: key port: it has to be a number from 1 to 65535"},
		{"connection 6: a port that is too large", secret(map[string]string{"host": "a", "port": "70000"}), db, false, "key port"},
		{"connection 6: a port 0", secret(map[string]string{"host": "a", "port": "0"}), db, false, "key port"},
		{"connection 6: a host with a scheme", secret(map[string]string{"host": "https://" + hush}), db, false, "key host: it has to be a host name"},
		{"connection 6: a host with a port", secret(map[string]string{"host": hush + ":80"}), db, false, "key host"},
		{"connection 6: a host in half a bracket", secret(map[string]string{"host": "[::1" + hush}), db, false, "key host"},
		{"connection 6: a URI that can't be parsed", secret(map[string]string{"uri": "postgres://u:" + hush + "@%zz/"}), db, false, "Secret shop/db: key uri: it has to be a URI"},
		{"connection 6: a URI that isn't one", secret(map[string]string{"uri": hush}), db, false, "key uri"},
		{"connection 6: a URI with several hosts", secret(map[string]string{"uri": "postgres://u:" + hush + "@h1:5432,h2:5432/db"}), db, false, "Secret shop/db: key uri: its host has to be a host name"},
		{"connection 6: a URI with a port that is too large", secret(map[string]string{"uri": "postgres://u:" + hush + "@h1:70000/db"}), db, false, "key uri: its port has to be a number from 1 to 65535: correct it, or name another key for port"},
		{"connection 6: a CA that isn't PEM", secret(map[string]string{"host": "a", "ca.crt": hush}), db, false, "key ca.crt: it has to be certificates in PEM"},
		{"connection 6: a key in place of a CA", secret(map[string]string{"host": "a", "ca": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}), db, false, "key ca:"},
		{"connection 6: a password that isn't text", secret(map[string]string{"host": "a", "password": "\xff" + hush}), db, false, "key password: its content isn't UTF-8"},
		{"connection 6: content that isn't base64", &cluster{objects: map[string]map[string]string{"Secret db": {}}, raw: map[string]any{"host": "!" + hush}}, db, false, "key host: its content isn't base64"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := connection.Read(t.Context(), row.reader, row.source)
			require.ErrorContains(t, err, row.message)
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), hush)
			assert.Equal(t, row.waits, request.IsWaiting(err))
			if !row.waits {
				assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
			}
		})
	}
	t.Run("connection 5: all objects up to a failed request are followed, and its error is returned", func(t *testing.T) {
		t.Parallel()
		reader := secret(nil)
		reader.err = errors.New("forbidden")
		_, err := connection.Read(t.Context(), reader, db)
		require.ErrorIs(t, err, reader.err)
		assert.Equal(t, []string{"Secret shop/db"}, reader.followed)
		reader = &cluster{followErr: errors.New("no watch")}
		_, err = connection.Read(t.Context(), reader, db)
		require.ErrorIs(t, err, reader.followErr)
	})
	t.Run("connection 5: what is missing is followed, too, with all that comes after it", func(t *testing.T) {
		t.Parallel()
		reader := &cluster{}
		_, err := connection.Read(t.Context(), reader, connection.Source{Namespace: "shop", Secret: "a", ConfigMap: "b", CASecret: "c"})
		require.True(t, request.IsWaiting(err))
		assert.ElementsMatch(t, []string{"Secret shop/a", "ConfigMap shop/b", "Secret shop/c"}, reader.followed)
	})
	t.Run("connection 7: a Source that can't be reports all mistakes, and reads nothing", func(t *testing.T) {
		t.Parallel()
		reader := &cluster{}
		_, err := connection.Read(t.Context(), reader, connection.Source{Require: []connection.Part{"speed"}, Parts: map[connection.Part]connection.From{
			"mood": {Value: "x"}, connection.Host: {Secret: "a", ConfigMap: "b", Key: "c"}, connection.Port: {Secret: "a"}, connection.Password: {Value: hush}, connection.Type: {Secret: "a", Key: "b", Value: "c"},
		}})
		for _, want := range []string{"no namespace", `unknown part "speed"`, `unknown part "mood"`, "part host: name one of", "part port: name an object and its key", "part password: it has to be in a Secret", "part type: name one of"} {
			assert.ErrorContains(t, err, want)
		}
		assert.NotContains(t, err.Error(), hush)
		assert.Empty(t, reader.followed)
		_, err = connection.Read(t.Context(), reader, connection.Source{Namespace: "shop"})
		require.ErrorContains(t, err, "no source")
	})
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, want string
		content    map[string]string
	}{
		{"all parts", "postgresql://u:p@db:5432/orders", map[string]string{"host": "db", "port": "5432", "user": "u", "password": "p", "dbname": "orders"}},
		{"characters with a meaning", "redis://a%40b:p%3A%40%2F%25@db/x%2Fy%3Fz", map[string]string{"host": "db", "user": "a@b", "password": "p:@/%", "database": "x/y?z"}},
		{"IPv6", "redis://[2001:db8::1]:6379", map[string]string{"host": "2001:db8::1", "port": "6379"}},
		{"IPv6 without a port", "redis://[2001:db8::1]", map[string]string{"host": "2001:db8::1"}},
		{"a password alone", "redis://:p@db", map[string]string{"host": "db", "password": "p"}},
		{"a user alone", "redis://u@db", map[string]string{"host": "db", "user": "u"}},
	} {
		t.Run("connection 9: "+row.name, func(t *testing.T) {
			t.Parallel()
			b, err := connection.Read(t.Context(), secret(row.content), db)
			require.NoError(t, err)
			scheme, _, _ := strings.Cut(row.want, ":")
			assert.Equal(t, row.want, b.URL(scheme).Reveal())
		})
	}
	t.Run("connection 9: the form of oper8 for a bucket", func(t *testing.T) {
		t.Parallel()
		content := map[string]string{"host": "cos", "port": "443", "user": "id", "password": "key", "database": "photos"}
		b, err := connection.Read(t.Context(), secret(content), db)
		require.NoError(t, err)
		text, err := b.S3("https")
		require.NoError(t, err)
		assert.Equal(t, "s3,endpoint=https://cos:443,accesskey=id,secretkey=key,bucketsuffix=photos", text.Reveal())
		content["password"] = hush + ","
		b, err = connection.Read(t.Context(), secret(content), db)
		require.NoError(t, err)
		_, err = b.S3("https")
		require.ErrorContains(t, err, "the password has a comma")
		assert.NotContains(t, err.Error(), hush)
	})
}

// FuzzURL has that a URL leads back to its parts, whatever they are.
func FuzzURL(f *testing.F) {
	f.Add("u", "p:@/%", "db")
	f.Add("ü\x00", "[]?#&=+ ", "../x")
	f.Fuzz(func(t *testing.T, user, password, database string) {
		content := map[string]string{"host": "2001:db8::1", "port": "5432", "user": user, "password": password, "database": database}
		b, err := connection.Read(t.Context(), secret(content), db)
		if err != nil {
			require.Equal(t, status.ErrorConfig, request.ClassOf(err))
			return
		}
		u, err := url.Parse(b.URL("postgresql").Reveal())
		require.NoError(t, err)
		got, _ := u.User.Password()
		assert.Equal(t, b.Password.Reveal(), got)
		assert.Equal(t, b.Username, u.User.Username())
		assert.Equal(t, b.Database, strings.TrimPrefix(u.Path, "/"))
		assert.Equal(t, "2001:db8::1", u.Hostname())
	})
}

func TestHidden(t *testing.T) {
	t.Parallel()
	b, err := connection.Read(t.Context(), secret(map[string]string{"uri": "redis://u:" + hush + "@db"}), db)
	require.NoError(t, err)
	encoded, err := json.Marshal(b)
	require.NoError(t, err)
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(io.Writer(&log), nil))
	logger.Info("read", "binding", b, "password", b.Password, "uri", b.URL("redis"))
	slog.New(slog.NewJSONHandler(&log, nil)).Info("read", "binding", b, "password", b.Password)
	for name, text := range map[string]string{
		"fmt": fmt.Sprint(b, b.Password, b.URI, b.URL("redis")), "fmt with all verbs": fmt.Sprintf("%s %v %+v %#v %q %x %d %+v %#v", b.Password, b.Password, b.Password, b.Password, b.Password, b.Password, b.Password, b, b),
		"json": string(encoded), "log": log.String(),
	} {
		t.Run("connection 10: nothing shows a password: "+name, func(t *testing.T) {
			t.Parallel()
			assert.NotContains(t, text, hush)
			assert.NotContains(t, text, fmt.Sprintf("%x", hush))
			assert.Contains(t, text, "***")
		})
	}
	t.Run("connection 10: an empty one is empty", func(t *testing.T) {
		t.Parallel()
		assert.Empty(t, connection.Hide("").String())
	})
}
