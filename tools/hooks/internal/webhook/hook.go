package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
)

// idle is how long a connection without a call is kept.
const idle = 90 * time.Second

// Config says how a hook is called. Only URL is required.
type Config struct {
	URL string
	// Timeout bounds the time of a call, from the connection to the end of the response. Zero means 10 s.
	Timeout time.Duration
	// MaxResponse bounds the size of a response, in bytes and after decompression. Zero means 10 MiB.
	MaxResponse int64
	// Authorization is the value of the header Authorization, empty for none.
	Authorization string
	// TLS has the certificates that the server needs, and those of the caller; nil means the system's.
	TLS *tls.Config
	// KeepTags keeps each response that has an ETag. The next request about the same subject names this ETag, and the
	// hook may answer 304 or 412: then the kept response counts. KeepFor is how long; zero means until others take its
	// place.
	KeepTags bool
	KeepFor  time.Duration
}

// Hook is a hook that is called by HTTP. It is safe for concurrent use.
type Hook struct {
	config Config
	client *http.Client
	kept   kept
}

// New returns a Hook. It sends no request.
func New(config Config) (*Hook, error) {
	address, err := url.Parse(config.URL)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, fmt.Errorf("hook %q: not a URL: use http://host/path or https://host/path", config.URL)
	}
	if config.Timeout < 0 || config.MaxResponse < 0 || config.KeepFor < 0 {
		return nil, fmt.Errorf("hook %s: negative limit", config.URL)
	}
	if config.Timeout == 0 {
		config.Timeout = limits.Timeout
	}
	if config.MaxResponse == 0 {
		config.MaxResponse = limits.Response
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is documented to be one
	transport.IdleConnTimeout = idle
	transport.MaxResponseHeaderBytes = 1 << 16
	if config.TLS != nil {
		transport.TLSClientConfig = config.TLS.Clone()
	}
	return &Hook{config: config, kept: kept{lasts: config.KeepFor}, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes idle connections.
func (h *Hook) Close() { h.client.CloseIdleConnections() }

// Call sends a request and returns the response. subject names what the request is about, such as the uid of a parent.
// The error names the URL: it is a *StatusError for another status than 200, a *limits.SizeError, or a
// *limits.TimeoutError.
func (h *Hook) Call(ctx context.Context, subject string, body []byte) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, h.config.Timeout, &limits.TimeoutError{Hook: h.config.URL, Limit: h.config.Timeout})
	defer cancel()
	response, err := h.call(limited, subject, body)
	var late *limits.TimeoutError
	if err != nil && errors.As(context.Cause(limited), &late) && ctx.Err() == nil {
		return nil, late
	}
	return response, err
}

func (h *Hook) call(ctx context.Context, subject string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("hook %s: %w", h.config.URL, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if h.config.Authorization != "" {
		request.Header.Set("Authorization", h.config.Authorization)
	}
	last, isKept := h.kept.get(subject)
	if isKept {
		request.Header.Set("If-None-Match", last.tag)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("hook %w", unwrapped(err, h.config.URL))
	}
	defer func() { _ = response.Body.Close() }()
	if isKept && (response.StatusCode == http.StatusNotModified || response.StatusCode == http.StatusPreconditionFailed) {
		return last.body, nil
	}
	if response.StatusCode != http.StatusOK {
		return nil, statusError(h.config.URL, response, h.config.Authorization)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, h.config.MaxResponse+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("hook %s: read the response: %w", h.config.URL, err)
	case int64(len(content)) > h.config.MaxResponse:
		return nil, &limits.SizeError{Hook: h.config.URL, Limit: h.config.MaxResponse}
	}
	if tag := response.Header.Get("ETag"); h.config.KeepTags && tag != "" && len(tag) <= maxTag {
		h.kept.put(subject, tag, content)
	}
	return content, nil
}

// unwrapped returns an error of the client without the method of the request, which the message of *url.Error has.
func unwrapped(err error, address string) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", address, err)
}
