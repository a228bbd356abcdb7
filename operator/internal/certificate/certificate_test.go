package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write puts a new certificate of a name into a folder.
func write(t *testing.T, folder, name string) (certificateFile, keyFile string) {
	t.Helper()
	// Files that are written within the precision of their times look the same.
	time.Sleep(20 * time.Millisecond)
	made, err := SelfSigned(name)
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(made.present.PrivateKey)
	require.NoError(t, err)
	certificateFile, keyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	require.NoError(t, os.WriteFile(certificateFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.present.Certificate[0]}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	return certificateFile, keyFile
}

func (s *Served) name(t *testing.T) string {
	t.Helper()
	pair, err := s.Config().GetCertificate(&tls.ClientHelloInfo{})
	require.NoError(t, err)
	read, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	return read.DNSNames[0]
}

func TestLoad(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var logs bytes.Buffer
	certificateFile, keyFile := write(t, folder, "first")
	s, err := Load(certificateFile, keyFile, slog.New(slog.NewTextHandler(&logs, nil)))
	require.NoError(t, err)
	now := s.looked
	s.now = func() time.Time { return now }
	assert.Equal(t, "first", s.name(t))
	write(t, folder, "second")
	assert.Equal(t, "first", s.name(t), "files aren't looked at for each client")
	now = now.Add(look)
	assert.Equal(t, "second", s.name(t), "a renewed certificate is served without a restart")

	require.NoError(t, os.WriteFile(certificateFile, []byte("half a certi"), 0o600))
	now = now.Add(look)
	assert.Equal(t, "second", s.name(t), "what can't be read doesn't end the serving")
	assert.Contains(t, logs.String(), "failed to read the certificate again")
	require.NoError(t, os.Remove(keyFile))
	now = now.Add(look)
	assert.Equal(t, "second", s.name(t))
	write(t, folder, "third")
	now = now.Add(look)
	assert.Equal(t, "third", s.name(t))
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	one, other := t.TempDir(), t.TempDir()
	certificateFile, keyFile := write(t, one, "one")
	_, otherKey := write(t, other, "other")
	for _, row := range []struct{ reason, certificate, key, want string }{
		{"no file", filepath.Join(one, "none"), keyFile, "none: no such file"},
		{"no key", certificateFile, filepath.Join(one, "none"), "none: no such file"},
		{"another one's key", certificateFile, otherKey, "private key does not match"},
		{"a key for a certificate", keyFile, certificateFile, "certificate " + keyFile},
	} {
		_, err := Load(row.certificate, row.key, slog.New(slog.DiscardHandler))
		assert.ErrorContains(t, err, row.want, row.reason)
	}
}
