package peering

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// String returns the verdict for people.
func (v Verdict) String() string {
	if !v.Paused() {
		return "works"
	}
	highest := v.By[0]
	switch v.Why {
	case Frozen:
		return fmt.Sprintf("paused: frozen by %s, for %s from now", highest.Holder, max(time.Until(highest.Ends), 0).Round(time.Second))
	case Lower:
		return fmt.Sprintf("paused: %s works, which has the higher priority %d", highest.Holder, highest.Priority)
	default:
		var holders []string
		for _, p := range v.By {
			holders = append(holders, p.Holder)
		}
		return fmt.Sprintf("paused: %s has the same priority %d: give one of them another priority", strings.Join(holders, ", "), highest.Priority)
	}
}

// report logs a verdict if it isn't the one that was reported last.
func (p *Peering) report(ctx context.Context, v Verdict) {
	if p.last != nil && v.Why == p.last.Why && slices.EqualFunc(v.By, p.last.By, func(a, b Peer) bool { return a.Lease == b.Lease }) {
		return
	}
	p.last = &v
	log := p.config.Logger.With("priority", p.config.Priority, "lease", p.self.Lease)
	var by []string
	for _, peer := range v.By {
		by = append(by, peer.Holder)
	}
	switch v.Why {
	case None:
		log.InfoContext(ctx, "no peer makes this process pause: it works")
	case Frozen:
		log.InfoContext(ctx, "this process pauses: the operator is frozen", "by", by[0], "for", max(time.Until(v.By[0].Ends), 0).Round(time.Second))
	case Lower:
		log.InfoContext(ctx, "this process pauses: another one has a higher priority", "peers", by, "highest", v.By[0].Priority)
	case Equal:
		log.WarnContext(ctx, "this process pauses: another one has the same priority, so none of them works", "peers", by)
	}
	if p.config.Changed != nil {
		p.config.Changed(v)
	}
}
