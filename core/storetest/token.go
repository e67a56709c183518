package storetest

import (
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func tokenScenarios() []scenario {
	return []scenario{
		{"CreateToken/what is kept comes back as it is", tokenKept},
		{"CreateToken/of many with one id one is kept", tokenTaken},
		{"FindToken/an expired token is found, an unknown id is not", tokenFound},
		{"ListTokens/pages by id miss nothing and repeat nothing", tokenPages},
		{"RevokeToken/it is gone at once, for every handle, and once only", tokenRevoked},
	}
}

// newToken is a token fit to be kept.
func (s *stage) newToken(role core.Role, tenant string) core.Token {
	s.Helper()
	_, id, hash, err := core.NewToken(rand.Reader)
	s.must(err)
	return core.Token{ID: id, Name: "n", Hash: hash, Role: role, Tenant: tenant}
}

func (s *stage) createToken(t core.Token) core.Token {
	s.Helper()
	kept, err := s.store.CreateToken(s.ctx, t)
	s.must(err)
	return kept
}

func tokenKept(s *stage) {
	before := s.now()
	for _, t := range []core.Token{
		s.newToken(core.RoleAdmin, ""), s.newToken(core.RoleSubmit, "Müller & Söhne"), s.newToken(core.RoleRead, "'; DROP TABLE tokens; --"),
	} {
		t.Name = strings.Repeat("ü", core.MaxTokenNameBytes/2)
		if t.Role == core.RoleRead {
			t.ExpiresAt = before.Add(time.Hour)
			t.Hash = [32]byte{} // zeros are bytes like others
		}
		kept := s.createToken(t)
		if kept.CreatedAt.Before(before.Truncate(time.Microsecond)) || kept.CreatedAt.After(s.now()) {
			s.Errorf("created at %s", kept.CreatedAt)
		}
		t.CreatedAt = kept.CreatedAt
		found, err := s.second().store.FindToken(s.ctx, t.ID)
		s.must(err)
		if !reflect.DeepEqual(kept, t) || !reflect.DeepEqual(found, t) {
			s.Errorf("kept\n%+v, found\n%+v, want\n%+v", kept, found, t)
		}
	}
}

func tokenTaken(s *stage) {
	token := s.newToken(core.RoleRead, "")
	var kept atomic.Int32
	s.times(8, func(i int) error {
		mine := token
		mine.Hash[0] = byte(i)
		_, err := s.store.CreateToken(s.ctx, mine)
		if err == nil {
			kept.Add(1)
		} else if errors.Is(err, core.ErrConflict) {
			err = nil
		}
		return err
	})
	if kept.Load() != 1 {
		s.Errorf("%d of 8 were kept", kept.Load())
	}
}

func tokenFound(s *stage) {
	token := s.newToken(core.RoleSubmit, "a")
	token.ExpiresAt = s.now().Add(time.Minute)
	s.createToken(token)
	s.advance(time.Hour)
	if found, err := s.store.FindToken(s.ctx, token.ID); err != nil || found.ID != token.ID || !found.Expired(s.now()) {
		s.Errorf("expired: %+v, %v", found, err)
	}
	for _, id := range []string{"", "nobody", token.ID[1:], strings.ToUpper(token.ID) + "x", "%", token.ID + "'"} {
		if found, err := s.store.FindToken(s.ctx, id); !errors.Is(err, core.ErrNotFound) || found.ID != "" {
			s.Errorf("%q: %+v, %v", id, found, err)
		}
	}
}

func tokenPages(s *stage) {
	if tokens, err := s.store.ListTokens(s.ctx, "", 10); err != nil || len(tokens) != 0 {
		s.Errorf("an empty store has %d tokens, %v", len(tokens), err)
	}
	var want []string
	for range 23 {
		want = append(want, s.createToken(s.newToken(core.RoleRead, "")).ID)
	}
	slices.Sort(want)
	var got []string
	for after := ""; ; {
		page, err := s.store.ListTokens(s.ctx, after, 5)
		s.must(err)
		for _, t := range page {
			got = append(got, t.ID)
		}
		if len(page) < 5 {
			break
		}
		after = page[4].ID
	}
	if !slices.Equal(got, want) {
		s.Errorf("pages have\n%v, want\n%v", got, want)
	}
}

func tokenRevoked(s *stage) {
	gone, stays := s.createToken(s.newToken(core.RoleAdmin, "")), s.createToken(s.newToken(core.RoleRead, ""))
	var revoked atomic.Int32
	s.times(8, func(int) error {
		err := s.store.RevokeToken(s.ctx, gone.ID)
		if err == nil {
			revoked.Add(1)
		} else if errors.Is(err, core.ErrNotFound) {
			err = nil
		}
		return err
	})
	if revoked.Load() != 1 {
		s.Errorf("%d of 8 revoked it", revoked.Load())
	}
	other := s.second().store
	if _, err := other.FindToken(s.ctx, gone.ID); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("a revoked token is found: %v", err)
	}
	if _, err := other.FindToken(s.ctx, stays.ID); err != nil {
		s.Errorf("the other token: %v", err)
	}
	if err := other.RevokeToken(s.ctx, "nobody"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("an unknown id: %v", err)
	}
}
