package certificate

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// look is after what time files are looked at again.
const look = 10 * time.Second

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

// stamp tells whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
}

// Load reads a certificate and its key, in PEM. They are read again when they have changed, at most 10 seconds later. While they can't be
// read, or don't fit, the last ones stay, and the logger is told.
func Load(certificateFile, keyFile string, logger *slog.Logger) (*Served, error) {
	s := &Served{certificateFile: certificateFile, keyFile: keyFile, logger: logger, now: time.Now}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// Config returns how a server serves it: TLS 1.2 and later, HTTP/1.1 only, since one client could keep a server busy with resets of
// HTTP/2's streams.
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
		s.logger.Warn("the certificate can't be read anew, the last one stays", "error", err)
	}
	return s.present, nil
}

// read takes what the files hold, if that has changed. mu is held.
func (s *Served) read() error {
	s.looked = s.now()
	stamps, err := s.stamp()
	if err != nil || stamps == s.stamps {
		return err
	}
	pair, err := tls.LoadX509KeyPair(s.certificateFile, s.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s, key %s: %w", s.certificateFile, s.keyFile, err)
	}
	s.present, s.stamps = &pair, stamps
	return nil
}

func (s *Served) stamp() (stamps [2]stamp, err error) {
	for i, file := range []string{s.certificateFile, s.keyFile} {
		info, err := os.Stat(file)
		if err != nil {
			return stamps, err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}
