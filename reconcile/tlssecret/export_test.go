package tlssecret

import "context"

// Step puts the Secret in order once, by what the view shows if watched, and otherwise by a read.
func (s *Source) Step(ctx context.Context, watched bool) error {
	get := s.port.Get
	if watched {
		get = s.view.Get
	}
	_, err := s.step(ctx, get)
	return err
}
