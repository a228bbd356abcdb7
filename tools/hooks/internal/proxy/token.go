package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// authenticate returns the access whose token a request has, nil if there is none. How long it takes depends on the
// digest of the token, which says nothing about the token.
func (p *Proxy) authenticate(r *http.Request) *Access {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return nil
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	sum := digest(sha256.Sum256([]byte(strings.TrimSpace(token))))
	p.mu.Lock()
	access := p.accesses[sum]
	p.mu.Unlock()
	if access == nil || subtle.ConstantTimeCompare(access.digest[:], sum[:]) != 1 {
		return nil
	}
	return access
}
