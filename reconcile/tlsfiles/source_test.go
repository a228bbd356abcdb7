package tlsfiles_test

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/tlsfiles"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	t.Run("files 1: names of files", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, tlsfiles.Files{Certificate: "/a/tls.crt", Key: "/a/tls.key"}, tlsfiles.Pair("/a"))
		assert.Equal(t, tlsfiles.Files{Certificate: "/a/tls.crt", Key: "/a/tls.key", CA: "/a/ca.crt"}, tlsfiles.Secret("/a"))
		assert.Equal(t, tlsfiles.Files{
			Certificate: "/apiserver.local.config/certificates/apiserver.crt", Key: "/apiserver.local.config/certificates/apiserver.key",
		}, tlsfiles.OLM())
		assert.Equal(t, "/tmp/k8s-webhook-server/serving-certs/tls.crt", tlsfiles.Pair(tlsfiles.ServingCerts).Certificate)
	})
	for reason, row := range map[string]struct {
		files tlsfiles.Files
		opts  []tlsfiles.Option
		want  string
	}{
		"files 1: no file is named":                {want: "no file is named"},
		"files 1: a certificate without a key":     {files: tlsfiles.Files{Certificate: "c"}, want: "only one of Certificate and Key"},
		"files 1: a key without a certificate":     {files: tlsfiles.Files{Key: "k"}, opts: []tlsfiles.Option{tlsfiles.Late()}, want: "only one of Certificate and Key"},
		"files 1: clients can't be verified":       {files: tlsfiles.Pair("d"), opts: []tlsfiles.Option{nil, tlsfiles.VerifyClients()}, want: "VerifyClients needs the file CA"},
		"files 1: all that is wrong, in one error": {files: tlsfiles.Files{Key: "k"}, opts: []tlsfiles.Option{tlsfiles.VerifyClients()}, want: "name both\nTLS from files: the option VerifyClients"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			_, err := tlsfiles.Load(row.files, row.opts...)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	first, second := issue(t, ca, time.Hour, "web"), issue(t, ca, 2*time.Hour, "web")
	for reason, change := range map[string]func(t *testing.T, dir string){
		"files 2: the kubelet exchanges the link":       func(t *testing.T, dir string) { mount(t, dir, secret(second)) },
		"files 2: the files are written where they are": func(t *testing.T, dir string) { write(t, dir, secret(second)) },
		"files 2: the files are removed and come again": func(t *testing.T, dir string) {
			for name := range secret(second) {
				require.NoError(t, os.Remove(filepath.Join(dir, name)))
			}
			write(t, dir, secret(second))
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := open(t, secret(first))
			server := s.Server()
			change(t, s.dir)
			s.clock.advance(time.Second)
			seen, clientErr, serverErr := shake(t, server, plain(s.clock, "web", ca))
			require.NoError(t, errors.Join(clientErr, serverErr))
			assert.Equal(t, second.cert, seen.PeerCertificates[0])
			assert.Zero(t, s.log.warnings(), s.log)
			assert.Equal(t, 1, strings.Count(s.log.String(), "have been read again"), s.log)
		})
	}
	t.Run("files 2: times and sizes of files don't count", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(first))
		at := time.Unix(1000, 0)
		for _, leaf := range []*pair{second, first} {
			mount(t, s.dir, secret(leaf))
			for name := range secret(leaf) {
				require.NoError(t, os.Chtimes(filepath.Join(s.dir, name), at, at))
			}
			s.clock.advance(time.Second)
			assert.Equal(t, leaf.cert.NotAfter, s.Expires())
		}
	})
}

func TestUnusable(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	first, other := issue(t, ca, time.Hour, "web"), issue(t, ca, time.Hour, "web")
	half := func(text string) string { return text[:len(text)/2] }
	for reason, row := range map[string]struct {
		change map[string]string
		remove string
		want   string
	}{
		"files 3: the certificate is missing":          {remove: "tls.crt", want: "certificate: open DIR/tls.crt: no such file or directory"},
		"files 3: the key is missing":                  {remove: "tls.key", want: "key: open DIR/tls.key: no such file or directory"},
		"files 3: the CA is missing":                   {remove: "ca.crt", want: "CA: open DIR/ca.crt: no such file or directory"},
		"files 3: the certificate is empty":            {change: map[string]string{"tls.crt": ""}, want: "certificate DIR/tls.crt: has no certificate in PEM"},
		"files 3: half a certificate":                  {change: map[string]string{"tls.crt": half(other.certPEM)}, want: "certificate DIR/tls.crt: has a damaged or half-written PEM block"},
		"files 3: the chain ends in half a CA":         {change: map[string]string{"tls.crt": first.certPEM + half(ca.certPEM)}, want: "certificate DIR/tls.crt: has a damaged or half-written PEM block"},
		"files 3: the chain ends in a few dashes":      {change: map[string]string{"tls.crt": first.certPEM + "-----BEG"}, want: "certificate DIR/tls.crt: has a damaged or half-written PEM block"},
		"files 3: half a CA before another one":        {change: map[string]string{"ca.crt": half(ca.certPEM) + "\n" + ca.certPEM}, want: "CA DIR/ca.crt: has a damaged or half-written PEM block"},
		"files 3: a certificate that isn't one":        {change: map[string]string{"tls.crt": "-----BEGIN CERTIFICATE-----\nTm8=\n-----END CERTIFICATE-----\n"}, want: "certificate DIR/tls.crt: has a damaged certificate"},
		"files 3: a key for a certificate":             {change: map[string]string{"tls.crt": other.keyPEM}, want: "certificate DIR/tls.crt: has a PEM block that isn't a certificate"},
		"files 3: a certificate for a key":             {change: map[string]string{"tls.key": other.certPEM}, want: "key DIR/tls.key: has no private key in PEM, or a damaged one"},
		"files 3: half a key":                          {change: map[string]string{"tls.key": half(other.keyPEM)}, want: "key DIR/tls.key: has no private key in PEM, or a damaged one"},
		"files 3: the key of another certificate":      {change: map[string]string{"tls.key": other.keyPEM}, want: "key DIR/tls.key: isn't the key of the certificate DIR/tls.crt"},
		"files 3: only the certificate is written yet": {change: map[string]string{"tls.crt": other.certPEM}, want: "key DIR/tls.key: isn't the key of the certificate DIR/tls.crt"},
		"files 3: no CA":                               {change: map[string]string{"ca.crt": "none yet"}, want: "CA DIR/ca.crt: has no certificate in PEM"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := open(t, secret(first, ca))
			before := s.Digest()
			write(t, s.dir, row.change)
			if row.remove != "" {
				require.NoError(t, os.Remove(filepath.Join(s.dir, row.remove)))
			}
			want := strings.ReplaceAll(row.want, "DIR", s.dir)
			for range 3 {
				s.clock.advance(time.Second)
				seen, clientErr, serverErr := shake(t, s.Server(), s.Client("web"))
				require.NoError(t, errors.Join(clientErr, serverErr), "what was read last is still served and trusted")
				assert.Equal(t, first.cert, seen.PeerCertificates[0])
				assert.EqualError(t, s.Check(), want)
			}
			assert.Equal(t, before, s.Digest())
			assert.Equal(t, 1, s.log.warnings(), s.log)

			_, err := tlsfiles.Load(tlsfiles.Secret(s.dir))
			require.EqualError(t, err, want, "a program that starts with them says the same")

			restore := secret(other, ca)
			write(t, s.dir, restore)
			s.clock.advance(time.Second)
			require.NoError(t, s.Check())
			assert.Equal(t, other.cert.NotAfter, s.Expires())
			write(t, s.dir, row.change)
			if row.remove != "" {
				require.NoError(t, os.Remove(filepath.Join(s.dir, row.remove)))
			}
			s.clock.advance(time.Second)
			if s.Check() != nil { // the new pair may fit
				assert.Equal(t, 2, s.log.warnings(), "what is wrong again is logged again")
			}
			secrets(t, s.log.String(), first, other)
		})
	}
}

// secrets fails if a text has a line of a key.
func secrets(t *testing.T, text string, pairs ...*pair) {
	t.Helper()
	for _, one := range pairs {
		for line := range strings.Lines(one.keyPEM + one.certPEM) {
			if !strings.HasPrefix(line, "-----") {
				assert.NotContains(t, text, strings.TrimSpace(line))
			}
		}
	}
}

func TestExchange(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	first, second := issue(t, ca, time.Hour, "web"), issue(t, ca, 2*time.Hour, "web")
	for reason, swap := range map[string]string{
		"files 4: between certificate and key": "tls.key",
		"files 4: between key and CA":          "ca.crt",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var dir atomic.Value
			var armed atomic.Bool
			s := open(t, secret(first, ca), tlsfiles.ReadFile(func(name string) ([]byte, error) {
				if filepath.Base(name) == swap && armed.Swap(false) {
					mount(t, dir.Load().(string), secret(second, ca))
				}
				return os.ReadFile(name)
			}))
			dir.Store(s.dir)
			armed.Store(true)
			for range 2 {
				s.clock.advance(time.Second)
				require.NoError(t, s.Check())
			}
			assert.Equal(t, second.cert.NotAfter, s.Expires())
			assert.Zero(t, s.log.warnings(), s.log)
		})
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	leaf := issue(t, ca, time.Hour, "web")
	t.Run("files 5: files come late", func(t *testing.T) {
		t.Parallel()
		dir, clock, lines := t.TempDir(), newClock(), &log{}
		_, err := tlsfiles.Load(tlsfiles.Secret(dir), lines.logger())
		require.ErrorIs(t, err, fs.ErrNotExist, "without the option it is an error")
		assert.Empty(t, lines.String())

		s, err := tlsfiles.Load(tlsfiles.Secret(dir), tlsfiles.Late(), tlsfiles.VerifyClients(), tlsfiles.Clock(clock.Now), lines.logger())
		require.NoError(t, err)
		for range 3 {
			clock.advance(time.Second)
			_, clientErr, serverErr := shake(t, s.Server(), s.Client("web"))
			require.Error(t, clientErr)
			require.ErrorContains(t, serverErr, "there is no usable certificate yet")
			require.ErrorIs(t, s.Check(), fs.ErrNotExist)
		}
		assert.Empty(t, s.Digest())
		assert.Zero(t, s.Expires())
		assert.Equal(t, 1, lines.warnings(), lines)

		mount(t, dir, secret(leaf, ca))
		clock.advance(time.Second)
		_, clientErr, serverErr := shake(t, s.Server(), s.Client("web"))
		require.NoError(t, errors.Join(clientErr, serverErr))
		require.NoError(t, s.Check())
		assert.Equal(t, 1, lines.warnings(), lines)
	})
	t.Run("files 5: a client that has no CA yet trusts nobody", func(t *testing.T) {
		t.Parallel()
		server := open(t, secret(leaf))
		s, err := tlsfiles.Load(tlsfiles.Files{CA: filepath.Join(t.TempDir(), "ca.crt")}, tlsfiles.Late(), tlsfiles.Clock(server.clock.Now), server.log.logger())
		require.NoError(t, err)
		_, clientErr, _ := shake(t, server.Server(), s.Client("web"))
		require.ErrorContains(t, clientErr, "there is no usable certificate yet")
	})
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	short, long := issue(t, ca, time.Hour, "web"), issue(t, ca, 3*time.Hour, "web")
	t.Run("files 6: a certificate expires while it is served, and is renewed late", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(short))
		assert.Equal(t, start.Add(time.Hour), s.Expires())
		require.NoError(t, s.Check())
		s.clock.advance(2 * time.Hour)
		for range 2 {
			_, clientErr, _ := shake(t, s.Server(), plain(s.clock, "web", ca))
			require.ErrorContains(t, clientErr, "expired", "clients decide")
			s.clock.advance(time.Second)
		}
		require.EqualError(t, s.Check(), "certificate "+filepath.Join(s.dir, "tls.crt")+": has expired at 2030-01-01T01:00:00Z: renew it")
		assert.Equal(t, 1, s.log.warnings(), s.log)
		mount(t, s.dir, secret(long))
		s.clock.advance(time.Second)
		require.NoError(t, s.Check())
		assert.Equal(t, start.Add(3*time.Hour), s.Expires())
	})
	t.Run("files 6: a certificate that has expired at the start is logged and served", func(t *testing.T) {
		t.Parallel()
		late := newClock()
		late.advance(2 * time.Hour)
		s := open(t, secret(short), tlsfiles.Clock(late.Now))
		assert.Contains(t, s.log.String(), "has expired at 2030-01-01T01:00:00Z: renew it")
		assert.Equal(t, start.Add(time.Hour), s.Expires())
	})
	t.Run("files 6: an expired certificate doesn't replace a valid one", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(long))
		s.clock.advance(2 * time.Hour)
		mount(t, s.dir, secret(short))
		s.clock.advance(time.Second)
		require.ErrorContains(t, s.Check(), "has expired")
		assert.Equal(t, start.Add(3*time.Hour), s.Expires())
	})
	t.Run("files 6: a certificate of the future is used when its time comes", func(t *testing.T) {
		t.Parallel()
		early := newClock()
		early.advance(-2 * time.Hour)
		old := issue(t, ca, time.Hour, "web")
		s := open(t, secret(old), tlsfiles.Clock(early.Now))
		require.EqualError(t, s.Check(), "certificate "+filepath.Join(s.dir, "tls.crt")+": isn't valid before 2029-12-31T23:00:00Z: check the clocks")
		early.advance(2 * time.Hour)
		require.NoError(t, s.Check())
	})
}

func TestReads(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	leaf := issue(t, ca, time.Hour, "web")
	t.Run("files 7: files are read once a second at most, however many handshakes there are", func(t *testing.T) {
		t.Parallel()
		var reads atomic.Int64
		s := open(t, secret(leaf, ca), tlsfiles.ReadFile(func(name string) ([]byte, error) {
			reads.Add(1)
			return os.ReadFile(name)
		}))
		for second := range 3 {
			for range 5 {
				_, clientErr, serverErr := shake(t, s.Server(), s.Client("web"))
				require.NoError(t, errors.Join(clientErr, serverErr))
				require.NoError(t, s.Check())
			}
			assert.EqualValues(t, 3*(second+1), reads.Load())
			s.clock.advance(time.Second)
		}
	})
	t.Run("files 7: a clock that is set back doesn't keep files from being read", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(leaf))
		mount(t, s.dir, secret(issue(t, ca, 2*time.Hour, "web")))
		s.clock.advance(-30 * time.Minute)
		assert.Equal(t, start.Add(2*time.Hour), s.Expires())
	})
	t.Run("files 7: slow files hold up one handshake only", func(t *testing.T) {
		t.Parallel()
		slow, entered, free := atomic.Bool{}, make(chan struct{}), make(chan struct{})
		s := open(t, secret(leaf), tlsfiles.ReadFile(func(name string) ([]byte, error) {
			if slow.Swap(false) {
				close(entered)
				<-free
			}
			return os.ReadFile(name)
		}))
		s.clock.advance(time.Second)
		slow.Store(true)
		first := make(chan error, 1)
		server := s.Server()
		get := func() error {
			_, err := server.GetCertificate(&tls.ClientHelloInfo{})
			return err
		}
		go func() { first <- get() }()
		<-entered
		require.NoError(t, get(), "it doesn't wait")
		close(free)
		require.NoError(t, <-first)
	})
}

func TestDigest(t *testing.T) {
	t.Parallel()
	ca, next := issue(t, nil, 100*time.Hour), issue(t, nil, 100*time.Hour)
	leaf := issue(t, ca, time.Hour, "web")
	digests := map[string]string{}
	for _, row := range []struct {
		reason string
		files  map[string]string
	}{
		{"a pair", secret(leaf)},
		{"with a CA", secret(leaf, ca)},
		{"with two", secret(leaf, ca, next)},
		{"another CA", secret(leaf, next)},
		{"another certificate", secret(issue(t, ca, time.Hour, "web"), ca)},
		{"a CA as an intermediate one", map[string]string{"tls.crt": leaf.certPEM + ca.certPEM, "tls.key": leaf.keyPEM}},
	} {
		t.Run("files 8: "+row.reason, func(t *testing.T) {
			digest := open(t, row.files).Digest()
			assert.Len(t, digest, 32)
			assert.Empty(t, digests[digest], "each has its own digest")
			digests[digest] = row.reason
			text := map[string]string{}
			for name, content := range row.files {
				text[name] = "A comment of openssl\n" + content + "\n\n"
			}
			assert.Equal(t, digest, open(t, text).Digest(), "text around certificates doesn't count")
		})
	}
}
