package tlsfiles

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// look is the time after which a handshake reads the files again.
	look = time.Second
	// attempts is how often files are read at once when they don't fit together: the kubelet exchanges all files of a
	// Secret at the same time, but that may be between two reads.
	attempts = 3
)

// errNone is why a handshake fails while there is nothing to serve.
var errNone = errors.New("TLS from files: there is no usable certificate yet")

// Source has a certificate, its key and the CAs to trust, as the files have them. It is safe for concurrent use. It has
// no goroutine and needn't be closed.
type Source struct {
	files Files
	options

	// present is nil as long as the files could never be used.
	present atomic.Pointer[material]

	// reading is held by the one that reads the files. The others use what is present, so that slow files hold up one
	// handshake at most. It guards what follows.
	reading sync.Mutex
	looked  time.Time
	last    content
	// wrong is what is wrong with the content read last, and reported what the log said last.
	wrong    error
	reported string

	// due is when the files are to be read again, in nanoseconds, so that most handshakes needn't lock.
	due atomic.Int64
}

// Load reads the files. It returns an error if they can't be used, unless the option Late is set; a certificate that
// isn't valid at present is only logged.
func Load(files Files, opts ...Option) (*Source, error) {
	o := newOptions(opts)
	if err := files.validate(o.verifyClients); err != nil {
		return nil, err
	}
	s := &Source{files: files, options: o}
	s.reading.Lock()
	defer s.reading.Unlock()
	s.read()
	if s.present.Load() == nil && !s.late {
		return nil, s.wrong
	}
	s.report()
	return s, nil
}

// Check reads the files again if a second has passed since the last time, and returns what is wrong: files that can't
// be used, or a certificate that isn't valid at present. It is nil again when that is mended. It is for alerts: it also
// returns an error while a valid certificate that was read earlier is served. A readiness probe that fails only as long
// as there is nothing to serve uses Digest.
func (s *Source) Check() error {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.lookAgain()
	return s.problem()
}

// Expires returns the time until which the certificate is valid that is served now; zero if there is none.
func (s *Source) Expires() time.Time {
	if m := s.current(); m != nil && m.pair.Leaf != nil {
		return m.pair.Leaf.NotAfter
	}
	return time.Time{}
}

// Digest identifies the certificate and the CAs that are used now. It is no secret. It is empty if there are none.
func (s *Source) Digest() string {
	if m := s.current(); m != nil {
		return m.digest
	}
	return ""
}

// current returns what to serve, nil if there is nothing. It reads the files if it is time, and nobody else does.
func (s *Source) current() *material {
	present := s.present.Load()
	// A clock that was set back must not keep the files from being read.
	if left := time.Duration(s.due.Load() - s.now().UnixNano()); present != nil && left > 0 && left <= look {
		return present
	}
	if present == nil {
		// There is nothing else to use meanwhile.
		s.reading.Lock()
	} else if !s.reading.TryLock() {
		return present
	}
	defer s.reading.Unlock()
	s.lookAgain()
	return s.present.Load()
}

// lookAgain reads the files if it is time. The caller holds reading.
func (s *Source) lookAgain() {
	if since := s.now().Sub(s.looked); since >= 0 && since < look {
		return
	}
	before := s.present.Load()
	s.read()
	s.report()
	if after := s.present.Load(); after != before {
		s.logger.Info("TLS certificates have been read again", "certificate", s.files.Certificate, "ca", s.files.CA)
	}
}

// read reads the files, and takes what they have if it can be used. The caller holds reading.
func (s *Source) read() {
	s.looked = s.now()
	defer func() { s.due.Store(s.looked.Add(look).UnixNano()) }()
	for range attempts {
		read, err := s.content()
		if err != nil {
			// The next content counts as changed, also if it is what was there before.
			s.last, s.wrong = content{}, err
			continue
		}
		if s.last.equal(read) && s.wrong == nil {
			return
		}
		s.last = read
		if s.wrong = s.take(read); s.wrong == nil {
			return
		}
	}
}

// take parses content and serves it from now on, unless it can't be used or isn't as good as what is served.
func (s *Source) take(read content) error {
	m, err := parse(s.files, read)
	if err != nil {
		return err
	}
	present := s.present.Load()
	if err := m.valid(s.files, s.looked); err != nil && present != nil && present.valid(s.files, s.looked) == nil {
		return err
	}
	if present == nil || present.digest != m.digest {
		s.present.Store(m)
	}
	return nil
}

// problem returns what is wrong now. The caller holds reading.
func (s *Source) problem() error {
	if s.wrong != nil {
		return s.wrong
	}
	return s.present.Load().valid(s.files, s.now())
}

// report logs what is wrong, once. The caller holds reading.
func (s *Source) report() {
	err := s.problem()
	if err == nil {
		s.reported = ""
		return
	}
	if err.Error() == s.reported {
		return
	}
	s.reported = err.Error()
	if s.present.Load() == nil {
		s.logger.Warn("TLS certificates can't be used: handshakes fail until they can", "error", err)
		return
	}
	s.logger.Warn("TLS certificates are not as they should be: those read last are still used", "error", err)
}

// content reads the files that are named.
func (s *Source) content() (content, error) {
	var read content
	for _, one := range []struct {
		what, file string
		into       *[]byte
	}{{"certificate", s.files.Certificate, &read.certificate}, {"key", s.files.Key, &read.key}, {"CA", s.files.CA, &read.ca}} {
		if one.file == "" {
			continue
		}
		text, err := s.readFile(one.file)
		if err != nil {
			return content{}, fmt.Errorf("%s: %w", one.what, err)
		}
		*one.into = text
	}
	return read, nil
}
