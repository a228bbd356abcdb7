package tlsfiles_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/tlsfiles"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// start is the time at which the clocks of tests begin.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// certPEM and keyPEM are as they are in files.
	certPEM, keyPEM string
}

// issue returns a certificate for names and IP addresses that is valid for a time from start. Without an issuer it is a
// CA.
func issue(t testing.TB, issuer *pair, life time.Duration, names ...string) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "test", SerialNumber: serial.String()},
		NotBefore: start.Add(-time.Hour), NotAfter: start.Add(life), BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	parent, signer := template, key
	if issuer == nil {
		template.IsCA, template.KeyUsage, template.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
	} else {
		parent, signer = issuer.cert, issuer.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	document, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return &pair{
		cert: cert, key: key, certPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})),
		keyPEM: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: document})),
	}
}

// secret returns the files of a Secret.
func secret(leaf *pair, cas ...*pair) map[string]string {
	files := map[string]string{"tls.crt": leaf.certPEM, "tls.key": leaf.keyPEM}
	for _, ca := range cas {
		files["ca.crt"] += ca.certPEM
	}
	return files
}

// write puts files into a directory, one after another.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// mount puts files into a directory as the kubelet does: in a folder of their own, to which the link ..data leads, and
// which is exchanged at once.
func mount(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	folder := filepath.Join(dir, ".."+rand.Text())
	require.NoError(t, os.Mkdir(folder, 0o700))
	write(t, folder, files)
	next, data := filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")
	require.NoError(t, os.Symlink(filepath.Base(folder), next))
	old, _ := os.Readlink(data)
	require.NoError(t, os.Rename(next, data))
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			require.ErrorIs(t, err, os.ErrExist)
		}
	}
	if old != "" {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, old)))
	}
}

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// log collects the lines of a log.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// warnings returns how many warnings there are.
func (l *log) warnings() int { return strings.Count(l.String(), "level=WARN") }

func (l *log) logger() tlsfiles.Option { return tlsfiles.Logger(slog.New(slog.NewTextHandler(l, nil))) }

// side is a program with its own directory.
type side struct {
	*tlsfiles.Source
	dir   string
	log   *log
	clock *clock
}

// open loads the files of a Secret that is mounted.
func open(t testing.TB, files map[string]string, opts ...tlsfiles.Option) *side {
	t.Helper()
	s := &side{dir: t.TempDir(), log: &log{}, clock: newClock()}
	mount(t, s.dir, files)
	names := tlsfiles.Pair(s.dir)
	if files["ca.crt"] != "" {
		names = tlsfiles.Secret(s.dir)
	}
	var err error
	s.Source, err = tlsfiles.Load(names, append([]tlsfiles.Option{tlsfiles.Clock(s.clock.Now), s.log.logger()}, opts...)...)
	require.NoError(t, err)
	return s
}

// shake makes a handshake, and returns what the client and the server say about it.
func shake(t testing.TB, server, client *tls.Config) (seen tls.ConnectionState, clientErr, serverErr error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	near, far := connect(t)
	defer func() { _ = near.Close() }()
	defer func() { _ = far.Close() }()
	done := make(chan error, 1)
	served, dialled := tls.Server(far, server), tls.Client(near, client)
	go func() {
		// A client of TLS 1.3 learns by reading whether its certificate is accepted.
		err := served.HandshakeContext(ctx)
		if err == nil {
			_, err = served.Write([]byte("ok"))
		}
		done <- err
	}()
	clientErr = dialled.HandshakeContext(ctx)
	if clientErr == nil {
		_, clientErr = dialled.Read(make([]byte, 2))
	} else {
		_ = near.Close()
	}
	serverErr = <-done
	return dialled.ConnectionState(), clientErr, serverErr
}

// connect returns both ends of a connection.
func connect(t testing.TB) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, listener.Close()) }()
	near, err = net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	far, err = listener.Accept()
	require.NoError(t, err)
	return near, far
}

// plain is a client that trusts CAs by crypto/tls alone.
func plain(clock *clock, name string, cas ...*pair) *tls.Config {
	pool := x509.NewCertPool()
	for _, ca := range cas {
		pool.AddCert(ca.cert)
	}
	return &tls.Config{RootCAs: pool, ServerName: name, Time: clock.Now, MinVersion: tls.VersionTLS12}
}

// reissueAsCA returns the pair with a certificate that may sign others.
func reissueAsCA(t *testing.T, issuer, of *pair) *pair {
	t.Helper()
	template := *of.cert
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, &template, issuer.cert, of.key.Public(), issuer.key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return &pair{cert: cert, key: of.key, certPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})), keyPEM: of.keyPEM}
}
