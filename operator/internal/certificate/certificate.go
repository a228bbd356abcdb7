package certificate

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"
)

const (
	// look is the time after which files are checked for changes again.
	look = 10 * time.Second
	// life is how long a self-signed certificate is valid: longer than a process lives.
	life = 10 * 365 * 24 * time.Hour
)

// Served is the certificate that is served. It is safe for concurrent use.
type Served struct {
	certificateFile, keyFile string
	logger                   *slog.Logger
	now                      func() time.Time

	mu      sync.Mutex
	present *tls.Certificate
	stamps  [2]stamp
	looked  time.Time
}

// stamp changes when a file does.
type stamp struct {
	modified time.Time
	size     int64
}

// SelfSigned makes a certificate for the life of the process. Connections are encrypted, but clients can't verify the
// server.
func SelfSigned(name string) (*Served, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{
		Host: name, AlternateDNS: []string{"localhost"}, AlternateIPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, MaxAge: life,
	})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return &Served{present: &pair}, err
}

// Load reads a certificate and its key, in PEM. Changed files are read again, at most ten seconds later. While they
// can't be read, or don't fit together, the last certificate is served, and that is logged.
func Load(certificateFile, keyFile string, logger *slog.Logger) (*Served, error) {
	s := &Served{certificateFile: certificateFile, keyFile: keyFile, logger: logger, now: time.Now}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// Config returns the configuration of a server: TLS 1.2 and later, and only HTTP/1.1, because with HTTP/2 one client
// could keep a server busy by resetting streams.
func (s *Served) Config() *tls.Config {
	return &tls.Config{GetCertificate: s.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
}

func (s *Served) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.certificateFile == "" || s.now().Sub(s.looked) < look {
		return s.present, nil
	}
	if err := s.read(); err != nil {
		s.logger.Warn("failed to read the certificate again: the last one is still served", "error", err)
	}
	return s.present, nil
}

// read reads the files if they have changed. The caller holds mu.
func (s *Served) read() error {
	s.looked = s.now()
	var stamps [2]stamp
	for i, file := range []string{s.certificateFile, s.keyFile} {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if stamps == s.stamps {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(s.certificateFile, s.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s, key %s: %w", s.certificateFile, s.keyFile, err)
	}
	s.present, s.stamps = &pair, stamps
	return nil
}
