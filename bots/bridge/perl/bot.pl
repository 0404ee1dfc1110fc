# Plays any game: the action it has played least often in this match, by kind, so that it tries everything.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # flush after every line
my %played;

while (my $line = <STDIN>) {
    my $message = decode_json($line);
    if ($message->{type} eq 'match_start') {
        %played = ();
    }
    elsif ($message->{type} eq 'decide') {
        my @kinds = map { (split ' ', $_)[0] } @{ $message->{actions} };
        my $best  = 0;
        for my $index (1 .. $#kinds) {
            $best = $index if ($played{ $kinds[$index] } // 0) < ($played{ $kinds[$best] } // 0);
        }
        $played{ $kinds[$best] }++;
        print encode_json({ index => $best, note => "kind: $kinds[$best]" }), "\n";
    }
}
